/** Batches: start from a file, results, migration between bands, failures, comparison. */
import { describe, expect } from 'vitest'
import { expectFitsScreens, takeScreenshot } from '../page-session.ts'
import {
  ada,
  anton,
  at,
  base,
  browserTest,
  clara,
  createRule,
  jobWorker,
  lowRiskInputs,
  MATRIX,
  noProblems,
  pageHeading,
  putInForce,
  w,
} from './setup.ts'

/** Two known customers, one unknown, and a row that cannot be decided on. */
function csv(): Buffer {
  const columns = Object.keys(lowRiskInputs)
  const cell = (value: unknown) => (Array.isArray(value) ? value.join('|') : String(value))
  const row = (id: string, inputs: Record<string, unknown>) =>
    [id, ...columns.map((name) => cell(inputs[name]))].join(',')
  return Buffer.from(
    [
      ['external_id', ...columns].join(','),
      row('C-1', lowRiskInputs),
      row('C-2', { ...lowRiskInputs, screening: 'true-match' }),
      row('C-99', lowRiskInputs),
      row('C-3', { ...lowRiskInputs, channel: 'pigeon' }),
    ].join('\n'),
  )
}

async function startBatch(rule_key: string, amounts: readonly number[]): Promise<string> {
  const items = amounts.map((amount, place) => ({ external_id: `X-${place}`, inputs: { amount } }))
  const { json } = await w.call('POST /batch-evaluations', { token: anton, body: { rule_key, items } })
  return json.resource.split('/').at(-1)
}

const ended = (batch_id: string) =>
  expect
    .poll(async () => (await w.call(`GET /batch-evaluations/${batch_id}`, { token: anton })).json.state)
    .toBe('succeeded')

describe('batches', () => {
  browserTest('start from a file and show their results', async () => {
    const { page, seen, close } = await at(anton, '/batches/new')
    await page.getByRole('combobox', { name: 'Matrix or rule' }).click()
    await page.getByRole('option', { name: 'Customer risk of persons' }).click()
    const file = { name: 'customers.csv', mimeType: 'text/csv', buffer: csv() }
    await page.getByLabel('File with one item per row').setInputFiles(file)
    await page.getByText('customers.csv uploaded').waitFor()
    await page.getByRole('button', { name: 'Estimate' }).click()
    await page.getByText(/4 items, about/).waitFor()
    await page.getByRole('button', { name: 'Start' }).click()
    await pageHeading(page, 'Batch: customers.csv').waitFor()
    const bars = page.getByRole('list', { name: 'Items by result' })
    await bars.getByText('prohibited').waitFor()
    const moves = page.getByRole('table', { name: 'Migration between bands' })
    await expect.poll(() => moves.getByRole('row', { name: /^low/ }).innerText()).toMatch(/1/)
    const items = page.getByRole('table', { name: 'Items' })
    await items.getByRole('row', { name: /C-3/ }).getByText('channel', { exact: true }).waitFor()
    await takeScreenshot(page, 'decisions-batch')
    await items.getByRole('link', { name: 'Why item 2' }).click()
    await pageHeading(page, 'Grace Hopper').waitFor()
    await page.getByText(/^Decision of Customer risk of persons, item 2/).waitFor()
    await page.getByRole('img', { name: /The score is/ }).waitFor()
    await expect.poll(() => page.getByRole('table', { name: 'Inputs of the decision' }).count()).toBe(1)
    await page.getByRole('heading', { name: 'Triggers that fired' }).waitFor()
    await page.getByText('Identical').waitFor()
    await page
      .getByRole('table', { name: 'Versions' })
      .getByRole('row', { name: /Customer risk of persons/ })
      .waitFor()
    await expectFitsScreens(page, 'decisions-batch-item')
    await page.getByRole('link', { name: 'Batch: customers.csv' }).click()
    await bars.getByRole('button', { name: /^prohibited/ }).click()
    await items.getByRole('row', { name: /C-3/ }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Show in evaluations' }).click()
    await pageHeading(page, 'Evaluations').waitFor()
    await page.getByRole('table', { name: 'Batch decisions' }).getByRole('row', { name: /C-3/ }).waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('are shown for one customer, and with the filters of single decisions', async () => {
    const items = [
      { external_id: 'C-1', inputs: lowRiskInputs },
      { external_id: 'C-2', inputs: { ...lowRiskInputs, screening: 'true-match' } },
    ]
    const { json } = await w.call('POST /batch-evaluations', { token: anton, body: { matrix_key: MATRIX, items } })
    const batch_id = json.resource.split('/').at(-1)
    await ended(batch_id)
    const { page, seen, close } = await at(anton, `/subjects/${ada}`)
    await page.getByRole('link', { name: 'View in batch' }).first().click()
    const all = page.getByRole('table', { name: 'Items' })
    await page.getByText('Only Ada Lovelace').waitFor()
    await all.getByRole('row', { name: /C-1/ }).waitFor()
    await expect.poll(() => all.getByRole('row', { name: /C-2/ }).count()).toBe(0)
    await takeScreenshot(page, 'decisions-batch-one-customer')
    await page.getByRole('button', { name: 'Show the items of all subjects' }).click()
    await all.getByRole('row', { name: /C-2/ }).waitFor()
    await expect.poll(() => page.getByText('Only Ada Lovelace').count()).toBe(0)

    await page.goto(`${base}/evaluations?band=prohibited&from=2020-01-01T00:00`)
    await pageHeading(page, 'Evaluations').waitFor()
    await page.getByText('Batch decisions', { exact: true }).click()
    const shown = page.getByRole('table', { name: 'Batch decisions' })
    await shown.getByRole('row', { name: /C-2/ }).waitFor()
    await expect.poll(() => shown.getByRole('row', { name: /C-1/ }).count()).toBe(0)
    await page.getByText(/^Only batches: from /).waitFor()
    await page.getByText('Single decisions', { exact: true }).click()
    await page.getByLabel('Decided from').waitFor()
    await expect.poll(() => new URL(page.url()).search).toContain('band=prohibited')
    await expect.poll(() => page.getByLabel('Decided from').inputValue()).toBe('2020-01-01T00:00')

    await page.goto(`${base}/evaluations?source=batch&until=2020-01-01T00:00`)
    await page.getByText(/batches? fits? this filter/).waitFor()
    await page.getByRole('button', { name: 'Show all batches' }).click()
    await shown.getByRole('row', { name: /C-2/ }).waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('can be cancelled and resumed', async () => {
    await createRule('stopped', [100])
    await jobWorker.stop()
    const batch_id = await startBatch('stopped', [50, 150])
    const { page, seen, close } = await at(anton, `/batches/${batch_id}`)
    const state = (word: string) => page.getByRole('main').getByText(word, { exact: true })
    await state('queued').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await state('cancelled').waitFor()
    await takeScreenshot(page, 'decisions-batch-cancelled')
    jobWorker.start()
    await page.getByRole('button', { name: 'Resume' }).click()
    await state('succeeded').waitFor()
    const bars = page.getByRole('list', { name: 'Items by result' })
    const results = async () =>
      (await bars.getByRole('listitem').allInnerTexts()).map((text) => text.split(/\s*\n\s*/)[0])
    await expect.poll(results).toEqual(['hit', 'no hit'])
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('can be compared by result and cause', async () => {
    await createRule('moving', [100, 200])
    const early = await startBatch('moving', [50, 150])
    await ended(early)
    await putInForce('moving', 2)
    const late = await startBatch('moving', [50, 150])
    await ended(late)
    const { page, seen, close } = await at(clara, `/batches/${late}`)
    await page.getByRole('link', { name: 'Compare' }).click()
    await pageHeading(page, 'Compare two batches').waitFor()
    await page.getByRole('combobox', { name: 'From' }).click()
    await page.getByRole('option', { name: /^moving version 1:/ }).click()
    const items = page.getByRole('table', { name: 'Changed decisions' })
    await expect.poll(() => items.getByRole('row', { name: /rule moving/ }).innerText()).toMatch(/hit.*no hit/s)
    const versions = page.getByRole('table', { name: 'Changed versions' })
    await expect.poll(() => versions.getByRole('row', { name: /^rule moving/ }).innerText()).toMatch(/1\s+2/)
    const moves = page.getByRole('table', { name: 'Migration between the batches' })
    await expect.poll(() => moves.getByRole('row', { name: /^hit/ }).innerText()).toMatch(/^hit\s+1$/)
    await expect.poll(() => moves.getByRole('row', { name: /^no hit/ }).innerText()).toMatch(/^no hit\s+1$/)
    await expectFitsScreens(page, 'decisions-batches-compared')
    expect(seen).toEqual(noProblems)
    await close()
  })
})
