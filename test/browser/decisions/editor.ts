/** The editor of definitions: forms, keyboard and JSON. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { takeScreenshot } from '../page-session.ts'
import { at, browserTest, MATRIX, noProblems, pageHeading, petra, w } from './setup.ts'

const choose = async (page: Page, name: string, option: string | RegExp) => {
  await page.getByRole('combobox', { name }).click()
  await page.getByRole('option', { name: option }).click()
}

describe('the editor', () => {
  browserTest('creates a rule with forms and the keyboard', async () => {
    const { page, seen, close } = await at(petra, '/rules')
    await page.getByRole('button', { name: 'New rule' }).click()
    await page.getByRole('dialog').getByLabel('Title').fill('Large payments')
    await page.getByRole('dialog').getByLabel('Key').fill('large-payments')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await pageHeading(page, 'Draft of Large payments').waitFor()

    await page.getByRole('button', { name: 'Add input' }).click()
    const inputs = page.getByRole('region', { name: 'Inputs' })
    await inputs.getByLabel('Title').fill('Amount')
    await choose(page, 'Type', 'whole number')
    await inputs.getByLabel('Unit').fill('EUR')
    await inputs.getByLabel('Minimum', { exact: true }).fill('0')
    await inputs.getByLabel('Maximum', { exact: true }).fill('1000')
    await choose(page, 'Add column', 'Amount')
    await inputs.getByLabel('Name', { exact: true }).fill('amount')
    await inputs.getByLabel('Name', { exact: true }).press('Enter')

    const grid = page.getByRole('table', { name: 'Decision table rows' })
    await page.getByRole('button', { name: 'Add row' }).click()
    const first = grid.getByRole('textbox', { name: 'Amount, row 1' })
    await first.fill('>= 500')
    await first.press('Enter')
    await grid.getByRole('textbox', { name: 'Amount, row 2' }).waitFor()
    await page.keyboard.type('!')
    await expect.poll(() => grid.getByRole('textbox', { name: 'Amount, row 2' }).inputValue()).toBe('-!')
    await page.keyboard.press('Alt+ArrowUp')
    await expect.poll(() => first.inputValue()).toBe('-!')
    await grid.getByRole('button', { name: 'Remove row 1' }).click()
    await expect.poll(() => first.inputValue()).toBe('>= 500')
    await page.getByRole('region', { name: 'Result of a hit' }).getByLabel('Reason', { exact: true }).fill('Large.')
    await page.getByLabel('Reason code', { exact: true }).fill('TM_LARGE_CASH')
    await takeScreenshot(page, 'decisions-editor-rule')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved without findings').waitFor()
    const { definition } = (await w.call('GET /rules/large-payments/versions/draft', { token: petra })).json
    expect(definition).toMatchObject({
      inputs: [{ name: 'amount', title: 'Amount', type: 'integer', unit: 'EUR', minimum: 0, maximum: 1000 }],
      table: { columns: ['amount'], rows: [{ when: ['>= 500'] }] },
    })
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('offers lists, entries and fields, and shows the definition as JSON', async () => {
    const body = { matrix_key: 'written', title: 'Written', from_key: MATRIX }
    await w.call('POST /risk-matrices', { token: petra, body })
    const { page, seen, close } = await at(petra, '/matrices/written/draft')
    await pageHeading(page, 'Draft of Written').waitFor()
    await page.getByRole('button', { name: 'Add factor' }).click()
    await page.getByRole('menuitem', { name: 'Presence' }).click()
    const factor = page.getByRole('region', { name: 'Factor: New factor' })
    await factor.getByRole('combobox', { name: 'List to search' }).fill('product-risk')
    await page.getByRole('option', { name: /^product-risk/ }).click()
    await factor.getByRole('combobox', { name: 'Input' }).click()
    await page.getByRole('option', { name: 'Products' }).click()
    await factor.getByRole('button', { name: 'Score if on the list: choose from a list' }).click()
    const chooser = page.getByRole('dialog', { name: 'Score if on the list: choose from a list' })
    await chooser.getByRole('combobox', { name: 'List' }).fill('risk-levels')
    await page.getByRole('option', { name: /^risk-levels/ }).click()
    await chooser.getByRole('combobox', { name: 'Entry' }).click()
    await page.getByRole('option', { name: /^high/ }).click()
    await takeScreenshot(page, 'decisions-editor-value')
    await chooser.getByRole('button', { name: 'Use list value' }).click()
    await expect
      .poll(() => factor.getByLabel('Score if on the list', { exact: true }).inputValue())
      .toBe('risk-levels > high > score_bps')
    await factor.getByText('JSON', { exact: true }).click()
    expect(JSON.parse(await factor.getByRole('textbox').inputValue())).toMatchObject({
      form: 'presence',
      list_key: 'product-risk',
      input: 'products',
      present: { list_key: 'risk-levels', key: 'high', field: 'score_bps' },
      absent: 0,
    })
    expect(seen).toEqual(noProblems)
    await close()
  })
})
