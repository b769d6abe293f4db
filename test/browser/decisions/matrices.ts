/**
 * A matrix from a copy of the shared one to a version in force: editing, findings, validation, publication, approval.
 */
import { describe, expect } from 'vitest'
import { expectFitsScreens, takeScreenshot } from '../page-session.ts'
import { at, base, browserTest, clara, MATRIX, noProblems, pageHeading, petra, w } from './setup.ts'

describe('matrices', () => {
  browserTest('are described in words and can be copied to own ones', async () => {
    const { page, seen, close } = await at(petra, '/matrices')
    await page.getByRole('link', { name: 'Customer risk of persons' }).click()
    await pageHeading(page, 'Customer risk of persons').waitFor()
    await page.getByRole('img', { name: /low from 0 to 2,999.*prohibited from 9,000 to 10,000/ }).waitFor()
    await page.getByRole('table', { name: /Table of Turnover/ }).waitFor()
    await takeScreenshot(page, 'decisions-matrix')
    await page.getByRole('button', { name: 'Copy to own matrix' }).click()
    await pageHeading(page, /^Draft of/).waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('show findings at their cell, and gaps with example inputs', async () => {
    const { page, seen, close } = await at(petra, `/matrices/${MATRIX}/draft`)
    const grid = page.getByRole('table', { name: /Table of Turnover/ })
    const cell = grid.getByRole('textbox', { name: 'Expected turnover in a year, row 1' })
    const before = await cell.inputValue()
    await cell.fill('>> nonsense')
    await page.getByRole('button', { name: 'Save' }).click()
    await grid.locator('td.cell-fault').waitFor()
    await expect.poll(() => cell.getAttribute('aria-invalid')).toBe('true')
    await page.getByRole('button', { name: /^at .*\/when\/0$/ }).click()
    await expect
      .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
      .toBe('Expected turnover in a year, row 1')
    await takeScreenshot(page, 'decisions-draft-cell')

    await cell.fill('< 50000.00')
    await page.getByRole('button', { name: 'Save' }).click()
    const factor = page.getByRole('region', { name: /^Factor: Turnover/ })
    await factor
      .getByText('For example if Expected turnover in a year is 50000.00 EUR and Years as a customer is 0 years.')
      .waitFor()
    await grid.scrollIntoViewIfNeeded()
    await takeScreenshot(page, 'decisions-draft-gap')
    await cell.fill(before)
    await grid.getByRole('textbox', { name: 'Reason, row 1' }).fill('A small turnover.')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved without findings').waitFor()
    await expect.poll(() => factor.getByText(/^For example/).count()).toBe(0)
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('can be validated and published', async () => {
    const { page, seen, close } = await at(petra, `/matrices/${MATRIX}/draft`)
    await page.getByRole('button', { name: 'Validate' }).click()
    await page.getByText('Valid', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Publish' }).click()
    await page.getByRole('dialog').getByLabel('Label').fill('ours')
    await page.getByRole('button', { name: 'Validate and publish' }).click()
    await page.getByRole('list', { name: 'Versions, newest first' }).getByLabel('Version 1').waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('can be put in force with their changes shown, and run golden cases', async () => {
    const { page, seen, close } = await at(clara, `/matrices/${MATRIX}?origin=own&tab=versions`)
    await page.getByRole('button', { name: /^Put in force.*version 1$/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/^Changes/).waitFor()
    await dialog.getByLabel('Reason').fill('Our own thresholds.')
    await dialog.getByRole('button', { name: 'Put in force', exact: true }).click()
    await page.getByText('in force', { exact: true }).waitFor()

    await page.goto(`${base}/matrices/${MATRIX}?tab=cases`)
    await page.getByRole('button', { name: 'Add golden case' }).click()
    const form = page.getByRole('dialog')
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('nothing is known')
    await form.getByLabel('Expected band').fill('low')
    await form.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('button', { name: 'Run on version 1' }).click()
    await page
      .getByRole('row', { name: /nothing is known/ })
      .getByText('failed')
      .waitFor()
    await takeScreenshot(page, 'decisions-cases')
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('show difference and impact analysis to the approver', async () => {
    const path = `/risk-matrices/${MATRIX}`
    const { definition, revision } = (await w.call(`POST ${path}/versions`, { token: petra, body: {} })).json
    definition.factors.find(({ key }: { key: string }) => key === 'funds').scores.salary = 9000
    const body = { definition, expected_revision: revision }
    await w.call(`PUT ${path}/versions/draft`, { token: petra, body })
    const { json: cases } = await w.call(`GET ${path}/test-cases`, { token: clara })
    for (const { case_id } of cases.items) await w.call(`DELETE ${path}/test-cases/${case_id}`, { token: clara })
    await w.call(`POST ${path}/versions/draft/publish`, { token: petra, body: {} })
    const asked = { token: petra, body: { reason: 'Salaries are risky.' } }
    const { cr_id } = (await w.call(`POST ${path}/versions/2/submit`, asked)).json

    const { json: known_to_us } = await w.call('GET /subjects?external_id=C-6', { token: clara })
    const override = `/subjects/${known_to_us.items[0].subject_id}/risk-override`
    const expires_at = new Date(Date.now() + 86_400_000).toISOString()
    await w.call(`POST ${override}`, { token: clara, body: { band: 'high', reason: 'Known to us.', expires_at } })

    const { page, seen, close } = await at(clara, `/change-requests/${cr_id}`)
    const difference = page.getByRole('region', { name: 'Difference' })
    await difference
      .getByRole('article', { name: /^changed: .*funds/ })
      .getByText('9000')
      .waitFor()
    await page.getByRole('button', { name: 'Run impact analysis' }).click()
    const impact = page.getByRole('region', { name: 'Impact analysis' })
    await impact.getByText('changed scores').waitFor()
    await impact.getByRole('table', { name: 'Subjects affected' }).getByRole('link').first().waitFor()
    await page.getByRole('list', { name: 'Conditions of approval' }).getByText('Still up to date: met').waitFor()
    await impact.getByRole('table', { name: 'Changed factor scores' }).getByText('funds').waitFor()
    await impact.getByText(/^Of 1 decision about subjects with an overridden rating/).waitFor()
    const known = impact.getByRole('table', { name: 'Ratings compared with overrides' })
    await known.getByRole('row', { name: /^high/ }).waitFor()
    await known.scrollIntoViewIfNeeded()
    await expectFitsScreens(page, 'decisions-impact')
    await w.call(`DELETE ${override}`, { token: clara })

    // A measurement that was stored before overrides were looked at.
    await page.route('**/impact', async (route) => {
      const answer = await route.fetch()
      const { result, ...run } = (await answer.json()) as { result: Record<string, unknown> }
      await route.fulfill({ response: answer, json: { ...run, result: { ...result, known_outcomes: null } } })
    })
    await page.reload()
    await impact.getByText('Agreement with overrides was not recorded with this analysis.').waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })
})
