/** Rules: import of a decision table as a draft. */
import { describe, expect } from 'vitest'
import { takeScreenshot } from '../page-session.ts'
import { at, browserTest, noProblems, pageHeading, petra } from './setup.ts'

const dmn = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d" namespace="urn:example">
  <decision id="large" name="Large cash">
    <decisionTable id="t" hitPolicy="FIRST">
      <input id="i" label="Amount"><inputExpression id="e" typeRef="number"><text>amount</text></inputExpression></input>
      <output id="o" name="severity" typeRef="string"/>
      <rule id="r1"><inputEntry id="r1i"><text>&gt;= 10000</text></inputEntry><outputEntry id="r1o"><text>"high"</text></outputEntry></rule>
    </decisionTable>
  </decision>
</definitions>`

describe('rules', () => {
  browserTest('can be imported from DMN as drafts', async () => {
    const { page, seen, close } = await at(petra, '/rules')
    await page.getByRole('link', { name: 'Import DMN or GoRules' }).click()
    await pageHeading(page, 'Import rules').waitFor()
    await page.getByLabel('File content').fill(dmn)
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByRole('table', { name: 'Imported rules' }).getByRole('link', { name: 'large-cash' }).click()
    await pageHeading(page, 'Draft of Large cash').waitFor()
    const grid = page.getByRole('table', { name: 'Decision table rows' })
    await page.getByRole('button', { name: 'Add row' }).click()
    await grid.getByRole('button', { name: 'Move row 2 up' }).click()
    await expect.poll(() => grid.getByRole('textbox', { name: 'Name of row 1' }).inputValue()).toBe('row-2')
    await grid.getByRole('button', { name: 'Remove row 1' }).click()
    await expect.poll(() => grid.getByRole('textbox', { name: /^Name of row/ }).count()).toBe(1)
    await takeScreenshot(page, 'decisions-rule-draft')
    expect(seen).toEqual(noProblems)
    await close()
  })
})
