/** A whole story with the keyboard alone: sign in, find a customer, read the reasons, override the rating. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { openPage } from '../page-session.ts'
import { browser } from '../setup.ts'
import { base, browserTest, noProblems, pageHeading, personRoles, tenant } from './setup.ts'

const MAX_TABS = 60

/** The name of the focused element, as a screen reader would say it, and whether its focus can be seen. */
const FOCUSED = `(() => {
  const element = document.activeElement
  const named = (element.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id))
  return element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ??
    (named.map((one) => one?.textContent ?? '').join(' ').trim() || element.textContent)
})()`

/** Presses Tab until the element with this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = []
  for (let pressed = 0; pressed < MAX_TABS; pressed++) {
    await page.keyboard.press('Tab')
    const focused = ((await page.evaluate(FOCUSED)) as string).trim()
    if (name.test(focused)) return
    passed.push(focused.slice(0, 40))
  }
  throw new Error(`${name} has no focus after ${MAX_TABS} tabs: ${passed.join(' | ')}`)
}

describe('with the keyboard alone', () => {
  browserTest('a customer is found and the rating overridden after signing in', async () => {
    const subject = await tenant.make('POST /subjects', {
      body: { subject_type: 'person', name: 'Karl Keyboard', external_id: 'keyboard-1', attributes: {} },
    })
    const { page, seen, close } = await openPage(browser, base, '/subjects')
    await page.getByLabel('Token or API key').waitFor()
    await tabTo(page, /^Token or API key/)
    await page.keyboard.insertText(await tenant.token(personRoles))
    await page.keyboard.press('Enter')

    await pageHeading(page, 'Subjects').waitFor()
    await page.getByRole('link', { name: 'Karl Keyboard' }).waitFor()
    await tabTo(page, /^Name$/)
    await page.keyboard.type('keyboard')
    await tabTo(page, /^Karl Keyboard$/)
    await page.keyboard.press('Enter')
    await pageHeading(page, 'Karl Keyboard').waitFor()
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/subjects/${subject.subject_id}`)

    await tabTo(page, /^Override/)
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Override the rating of Karl Keyboard' })
    await expect.poll(() => page.evaluate(FOCUSED)).toMatch(/^Band/)
    await page.keyboard.press('ArrowDown')
    await page.getByRole('option', { name: 'high' }).waitFor()
    await page.keyboard.type('h')
    for (let pressed = 0; pressed < 4; pressed++) {
      if (await page.getByRole('option', { name: 'high' }).getAttribute('data-combobox-selected')) break
      await page.keyboard.press('ArrowDown')
    }
    await page.keyboard.press('Enter')
    await expect.poll(() => dialog.getByRole('combobox', { name: 'Band' }).inputValue()).toBe('high')
    await tabTo(page, /^Reason for the override/)
    await page.keyboard.type('Known from another case.')
    await tabTo(page, /^Override$/)
    await page.keyboard.press('Enter')
    await page.getByRole('main').getByText('Override in force').waitFor()
    // The focus is back where the dialog was opened, so that the story can go on.
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY')
    expect(seen).toEqual(noProblems)
    await close()
  })
})
