/** Schedules, and the performance of a rule. */
import { describe, expect } from 'vitest'
import { expectFitsScreens, waitUntilLoaded } from '../page-session.ts'
import { anton, at, base, browserTest, clara, createRule, evaluateRule, noProblems, pageHeading, w } from './setup.ts'

describe('schedules', () => {
  browserTest('can be created, started, paused and removed', async () => {
    await createRule('recurring', [100])
    const { page, seen, close } = await at(clara, '/batches')
    await page.getByRole('link', { name: 'Schedules' }).click()
    await pageHeading(page, 'Schedules').waitFor()
    await page.getByRole('button', { name: 'New schedule' }).click()
    const dialog = page.getByRole('dialog', { name: 'New schedule' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Month end')
    await dialog.getByRole('combobox', { name: 'Matrix or rule' }).click()
    await page.getByRole('option', { name: 'Rule recurring' }).click()
    await dialog.getByRole('textbox', { name: 'Segment' }).fill('nobody is in this one')
    await dialog.getByRole('combobox', { name: 'Frequency' }).click()
    await page.getByRole('option', { name: 'Custom (cron)' }).click()
    await dialog.getByRole('textbox', { name: 'Cron expression' }).fill('0 0 31 2 *')
    await dialog.getByRole('button', { name: 'Create schedule' }).click()
    await dialog.getByText('It would never be due').first().waitFor()
    await dialog.getByRole('textbox', { name: 'Cron expression' }).fill('30 22 L * *')
    await dialog.getByRole('button', { name: 'Create schedule' }).click()
    await dialog.waitFor({ state: 'detached' })

    const row = page.getByRole('table', { name: 'Schedules' }).getByRole('row', { name: /Month end/ })
    await row.getByText('On the last of the month at 22:30').waitFor()
    const choose = async (name: string) => {
      await row.getByRole('button', { name: 'Actions for Month end' }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    await choose('Start now')
    await row.getByRole('link', { name: /just now|ago|soon/ }).waitFor()
    await waitUntilLoaded(page)
    await expectFitsScreens(page, 'decisions-page-schedules')
    await choose('Pause')
    await row.getByText('paused', { exact: true }).waitFor()
    await choose('Remove')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove schedule' }).click()
    await page.getByText('No schedules yet').waitFor()
    // The times that never come were refused, as they should be.
    expect({ ...seen, errors: [], failed: [] }).toEqual(noProblems)
    await close()
  })
})

describe('a rule', () => {
  browserTest('shows its performance, and unknown figures as unknown', async () => {
    await createRule('performing', [100])
    const who = { subject_type: 'person', name: 'Rosa Regel', segment: 'nobody else', attributes: {} }
    const { subject_id } = (await w.call('POST /subjects', { token: anton, body: who })).json
    await evaluateRule('performing', 150, subject_id)
    await evaluateRule('performing', 50, subject_id)
    const { page, seen, close } = await at(clara, '/rules/performing?tab=performance')
    await page.getByText('50 %', { exact: true }).waitFor()
    const bands = page.getByRole('combobox', { name: 'Bands that confirm a hit' })
    await page.getByText('enter the bands that confirm a hit').first().waitFor()
    await bands.fill('high')
    await bands.press('Enter')
    await page.getByText('no rating was overridden after a hit').first().waitFor()
    const body = { band: 'high', reason: 'looked into', expires_at: new Date(Date.now() + 86_400_000).toISOString() }
    await w.call(`POST /subjects/${subject_id}/risk-override`, { token: anton, body })
    await page.goto(`${base}/rules/performing?tab=performance`)
    await bands.click()
    await page.getByRole('option', { name: 'high' }).click()
    await page.getByText('100 %', { exact: true }).first().waitFor()
    await page.getByText('enter the cost of a hit').waitFor()
    await page.getByRole('textbox', { name: 'Review cost per hit' }).fill('1200')
    await page.getByText('1,200', { exact: true }).waitFor()
    await waitUntilLoaded(page)
    await expectFitsScreens(page, 'decisions-page-performance')
    expect(seen).toEqual(noProblems)
    await close()
  })
})
