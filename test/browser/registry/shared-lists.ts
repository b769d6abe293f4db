/** A shared list as everybody reads it: its versions, what changed between them, a proof, what was in force when. */
import { describe, expect } from 'vitest'
import { shot } from '../visitor.ts'
import { at, base, clean, heading, inBrowser, vera } from './stage.ts'

describe('a shared list', () => {
  inBrowser('is found, opened and compared, and what changed is read field by field', async () => {
    const { page, seen, close } = await at(vera, '/datasets')
    await heading(page, 'Datasets').waitFor()
    expect(await page.getByRole('button', { name: 'Register a list' }).count()).toBe(0)
    await page.getByLabel('Find a list').fill('sanctions')
    await page.getByRole('link', { name: 'Demonstration sanctions list' }).click()
    await heading(page, 'Demonstration sanctions list').waitFor()
    await page.getByText('The operator put it in force for everybody').waitFor()
    const newest = page.getByRole('list', { name: 'Versions, newest first' }).getByLabel('Version 3')
    await newest.getByText('+ 12 added').waitFor()
    await newest.getByText('in force', { exact: true }).waitFor()
    await shot(page, 'registry-dataset')

    await newest.getByRole('link', { name: /What changed/ }).click()
    await heading(page, 'What changed').waitFor()
    await page.getByRole('article', { name: 'added: demo|DEMO-0003' }).getByText('Additia Newlisted').first().waitFor()
    const tile = page.getByRole('button', { name: '15 changed: show only these' })
    await tile.click()
    await expect.poll(() => page.getByRole('article').count()).toBe(15)
    expect(await tile.getAttribute('aria-pressed')).toBe('true')
    const changed = page.getByRole('article', { name: 'changed: demo|DEMO-0004' })
    const address = changed.getByRole('row', { name: /^Addresses/ })
    expect(await address.getByRole('insertion').innerText()).toContain('Nowhere Road')
    await shot(page, 'registry-difference')

    await page.getByLabel('Jump to a key').fill('demo-0168')
    await page.keyboard.press('Enter')
    const focused = page.locator('article:focus')
    await expect.poll(() => focused.getAttribute('aria-label')).toBe('changed: demo|DEMO-0168')
    await page.getByRole('button', { name: 'Swap direction' }).click()
    await expect.poll(() => page.url()).toContain('from=3&to=2')
    await page.getByRole('button', { name: '5 added: show only these' }).waitFor()
    expect(seen).toEqual(clean)
    await close()
  })

  inBrowser('proves that a key is absent, and is resolved as it was', async () => {
    const { page, seen, close } = await at(vera, '/datasets/demo-sanctions?tab=proof')
    await page.getByLabel('Key', { exact: true }).fill('demo|DEMO-0002')
    await page.getByRole('button', { name: 'Prove' }).click()
    await page.getByText('demo|DEMO-0002 is not in version 3').waitFor()
    await page.goto(`${base}/resolver?list=demo-sanctions&key=demo%7CDEMO-0002&valid_at=2025-04-01T12:00`)
    await page.getByRole('link', { name: 'version 1 (2025-03)' }).waitFor()
    await page
      .getByRole('region', { name: 'What it says of demo|DEMO-0002' })
      .getByText('Removia Delistova')
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Ask with a receipt' }).click()
    await page.getByText('Manifest hash').waitFor()
    await shot(page, 'registry-resolver')
    expect(seen).toEqual(clean)
    await close()
  })
})
