/** Evaluations: form, explanation, what-if, replay, certificate and comparison. */
import { describe, expect } from 'vitest'
import { connect } from '#test/isolation/support.ts'
import { takeScreenshot } from '../page-session.ts'
import {
  ada,
  anton,
  at,
  base,
  browserTest,
  createRule,
  evaluateRule,
  evaluation_id,
  noProblems,
  pageHeading,
  udo,
  w,
} from './setup.ts'

/** What nobody but the owner of the machine can do: change a stored decision behind the back of everything. */
async function tamper(id: string): Promise<void> {
  const superuser = await connect(w.clone.postgres)
  await superuser.query('set session_replication_role = replica')
  await superuser.query(`update app.evaluation set reason_codes = '{}' where evaluation_id = $1`, [id])
  await superuser.end()
}

describe('evaluations', () => {
  browserTest('use a form built from the definition, with errors at their field', async () => {
    const { page, seen, close } = await at(anton, '/evaluations/new?rule=cash-structuring')
    await page.getByRole('button', { name: 'Evaluate', exact: true }).click()
    await page.getByRole('alert').waitFor()
    await page.getByRole('combobox', { name: 'Customer segment' }).click()
    await page.getByRole('option', { name: 'retail' }).click()
    await page.getByLabel('Cash deposits in the window').fill('4')
    await page.getByLabel('Sum of the deposits, in EUR').fill('12000.00')
    await page.getByLabel('Largest single deposit, in EUR').fill('4500.00')
    await page.getByRole('button', { name: 'Evaluate', exact: true }).click()
    await pageHeading(page, 'Decision of Cash structuring').waitFor()
    await page.getByRole('region', { name: 'Matching rows' }).getByText('retail', { exact: true }).waitFor()
    expect(seen).toEqual({ ...noProblems, failed: ['409 /api/evaluations'] })
    await close()
  })

  browserTest('show factors with their list versions, what-if and re-evaluation', async () => {
    const { page, seen, close } = await at(anton, `/evaluations/${evaluation_id}`)
    const factors = page.getByRole('list', { name: 'Factors and what each contributed' })
    await factors
      .getByRole('link', { name: /^Jurisdiction risk, version \d+$/ })
      .first()
      .waitFor()
    await takeScreenshot(page, 'decisions-evaluation')
    await page.getByRole('tab', { name: 'What-if' }).click()
    await page.getByLabel('Also find the smallest change').check()
    await page.getByRole('button', { name: 'Run what-if' }).click()
    await page.getByRole('list', { name: 'Smallest changes' }).getByRole('listitem').first().waitFor()
    await takeScreenshot(page, 'decisions-what-if')
    await page.getByRole('tab', { name: 'Re-evaluate' }).click()
    await page.getByRole('button', { name: 'Re-evaluate with current versions' }).click()
    await page.getByRole('heading', { name: /^(Same|Different) result with current versions$/ }).waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('can be replayed and certified', async () => {
    const { page, seen, close } = await at(udo, `/evaluations/${evaluation_id}?tab=inputs`)
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByRole('status').getByText('Identical', { exact: true }).waitFor()
    await takeScreenshot(page, 'decisions-replay')
    const certificate = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Certificate' }).click()
    expect((await certificate).suggestedFilename()).toBe(`certificate-${evaluation_id}.json`)
    const pack = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Examiner’s package' }).click()
    expect((await pack).suggestedFilename()).toBe(`evaluation-pack-${evaluation_id}.zip`)
    await page.goto(`${base}/evaluations?band=Low`)
    const low = page.getByRole('table', { name: 'Evaluations' })
    await low.getByText('low').first().waitFor()
    await low
      .getByRole('link', { name: /Ada Lovelace/ })
      .first()
      .waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('that were altered in the database are reported as altered', async () => {
    await createRule('forged', [100])
    const forged = await evaluateRule('forged', 150, ada)
    const { page, seen, close } = await at(udo, `/evaluations/${forged}`)
    const verdict = (word: string) => page.getByRole('status').getByText(word, { exact: true })
    await page.getByRole('button', { name: 'Replay' }).click()
    await verdict('Identical').waitFor()
    await tamper(forged)
    await page.getByRole('button', { name: 'Replay' }).click()
    await verdict('Tampered').waitFor()
    expect(seen).toEqual(noProblems)

    await page.reload()
    await pageHeading(page, 'Altered record').waitFor()
    await page.getByRole('button', { name: 'Replay' }).click()
    await verdict('Tampered').waitFor()
    await page.getByText('The record is not as this service wrote it.').waitFor()
    await takeScreenshot(page, 'decisions-tampered')
    await page.goto(`${base}/evaluations?family=rule&definition=forged`)
    await page.getByRole('table', { name: 'Evaluations' }).getByText('altered').waitFor()
    expect(seen).toEqual({ ...noProblems, failed: [`500 /api/evaluations/${forged}`] })
    await close()
  })

  browserTest('can be compared field by field', async () => {
    await createRule('compared', [100])
    const early = await evaluateRule('compared', 50, ada)
    const late = await evaluateRule('compared', 150, ada)
    const { page, seen, close } = await at(anton, `/evaluations/${late}`)
    await page.getByRole('link', { name: 'Compare' }).click()
    await pageHeading(page, 'Compare two decisions').waitFor()
    await page.getByRole('combobox', { name: /^Compare the decision of/ }).click()
    await page.getByRole('option', { name: /no hit by compared, version 1$/ }).click()
    const inputs = page.getByRole('table', { name: 'Inputs: differences' })
    await expect.poll(() => inputs.getByRole('row', { name: /^amount/ }).innerText()).toMatch(/50.*150/s)
    await page.getByRole('table', { name: 'Outcome: differences' }).waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('other')).toBe(early)
    await takeScreenshot(page, 'decisions-compared')
    expect(seen).toEqual(noProblems)
    await close()
  })
})
