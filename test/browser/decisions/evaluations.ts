/** A decision made from typed inputs, explained factor by factor, questioned, replayed, and carried away. */
import { describe, expect } from 'vitest'
import { shot } from '../visitor.ts'
import { anton, at, base, clean, evaluation_id, heading, inBrowser, udo } from './stage.ts'

describe('evaluations', () => {
  inBrowser('are made from a form that the definition gives, with faults at their field', async () => {
    const { page, seen, close } = await at(anton, '/evaluations/new?rule=cash-structuring')
    await page.getByRole('button', { name: 'Decide and keep' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByRole('combobox', { name: 'Customer segment' }).click()
    await page.getByRole('option', { name: 'retail' }).click()
    await page.getByLabel('Cash deposits in the window').fill('4')
    await page.getByLabel('Sum of the deposits, in EUR').fill('12000.00')
    await page.getByLabel('Largest single deposit, in EUR').fill('4500.00')
    await page.getByRole('button', { name: 'Decide and keep' }).click()
    await heading(page, 'Decision of cash-structuring').waitFor()
    await page.getByRole('region', { name: 'Rows that fired' }).getByText('retail', { exact: true }).waitFor()
    expect(seen).toEqual({ ...clean, failed: ['409 /api/evaluations'] })
    await close()
  })

  inBrowser('are explained by factors with the list versions behind them, and questioned', async () => {
    const { page, seen, close } = await at(anton, `/evaluations/${evaluation_id}`)
    const factors = page.getByRole('list', { name: 'Factors and what each contributed' })
    await factors
      .getByRole('link', { name: /^jurisdiction-risk, version \d+$/ })
      .first()
      .waitFor()
    await shot(page, 'decisions-evaluation')
    await page.getByRole('tab', { name: 'What if' }).click()
    await page.getByLabel('Also search the smallest change').check()
    await page.getByRole('button', { name: 'What if' }).click()
    await page.getByRole('list', { name: 'Smallest changes' }).getByRole('listitem').first().waitFor()
    await shot(page, 'decisions-what-if')
    await page.getByRole('tab', { name: 'Today' }).click()
    await page.getByRole('button', { name: 'Decide with today’s versions' }).click()
    await page.getByRole('heading', { name: /^(The same|Different) today$/ }).waitFor()
    expect(seen).toEqual(clean)
    await close()
  })

  inBrowser('are replayed with a verdict, and certified', async () => {
    const { page, seen, close } = await at(udo, `/evaluations/${evaluation_id}?tab=stood-on`)
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByRole('status').getByText('Identical', { exact: true }).waitFor()
    await shot(page, 'decisions-replay')
    const certificate = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Certificate' }).click()
    expect((await certificate).suggestedFilename()).toBe(`certificate-${evaluation_id}.json`)
    const pack = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Examiner’s pack' }).click()
    expect((await pack).suggestedFilename()).toBe(`evaluation-pack-${evaluation_id}.zip`)
    await page.goto(`${base}/evaluations?band=low`)
    await page.getByRole('table', { name: 'Evaluations' }).getByText('low').first().waitFor()
    expect(seen).toEqual(clean)
    await close()
  })
})
