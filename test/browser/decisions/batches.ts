/** A file becomes a batch: progress, distribution, moves between bands, and a failure with its reason. */
import { describe, expect } from 'vitest'
import { shot } from '../visitor.ts'
import { anton, at, calm, clean, heading, inBrowser } from './stage.ts'

/** Two known customers, one unknown, and a row that cannot be decided on. */
function csv(): Buffer {
  const columns = Object.keys(calm)
  const cell = (value: unknown) => (Array.isArray(value) ? value.join('|') : String(value))
  const row = (id: string, inputs: Record<string, unknown>) =>
    [id, ...columns.map((name) => cell(inputs[name]))].join(',')
  return Buffer.from(
    [
      ['external_id', ...columns].join(','),
      row('C-1', calm),
      row('C-2', { ...calm, screening: 'true-match' }),
      row('C-99', calm),
      row('C-3', { ...calm, channel: 'pigeon' }),
    ].join('\n'),
  )
}

describe('batches', () => {
  inBrowser('are started from a file and show what came of it', async () => {
    const { page, seen, close } = await at(anton, '/batches/new')
    await page.getByRole('combobox', { name: 'What decides' }).click()
    await page.getByRole('option', { name: 'Customer risk of persons' }).click()
    const file = { name: 'customers.csv', mimeType: 'text/csv', buffer: csv() }
    await page.getByLabel('File with one item a row').setInputFiles(file)
    await page.getByText('customers.csv is here').waitFor()
    await page.getByRole('button', { name: 'Estimate' }).click()
    await page.getByText(/4 items, about/).waitFor()
    await page.getByRole('button', { name: 'Start' }).click()
    await heading(page, 'Batch: customers.csv').waitFor()
    const bars = page.getByRole('list', { name: 'Items by result' })
    await bars.getByText('prohibited').waitFor()
    const moves = page.getByRole('table', { name: 'Moves between bands' })
    expect(await moves.getByRole('row', { name: /^low/ }).innerText()).toMatch(/1/)
    const items = page.getByRole('table', { name: 'Items' })
    await items.getByRole('row', { name: /C-3/ }).getByText('channel', { exact: true }).waitFor()
    await shot(page, 'decisions-batch')
    await items.getByRole('button', { name: 'Why item 2' }).click()
    await page.getByRole('dialog').getByRole('heading', { name: 'Triggers that fired' }).waitFor()
    expect(seen).toEqual(clean)
    await close()
  })
})
