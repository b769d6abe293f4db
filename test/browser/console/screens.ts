/** Keyboard use, contrast of badges, and the navigation on a narrow screen. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { PHONE } from '../page-session.ts'
import { at, browserTest, navigation, noProblems, pageHeading, tara } from './setup.ts'

describe('keyboard', () => {
  const focused = (page: Page) =>
    page.evaluate('document.activeElement.id || document.activeElement.textContent || document.activeElement.tagName')
  const goTo = async (page: Page, words: string) => {
    await page.keyboard.press('Control+k')
    // What is typed before it has the focus is lost.
    await page.getByRole('combobox', { name: 'Search' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.type(words)
    await page.keyboard.press('Enter')
  }

  browserTest('reaches every area, and focus moves to the heading', async () => {
    const { page, seen, close } = await at(tara, '/')
    await page.getByText('Signed in as Tara Admin.').waitFor()
    await page.keyboard.press('Tab')
    await expect.poll(() => focused(page)).toBe('Skip to content')
    await page.keyboard.press('Enter')
    await expect.poll(() => focused(page)).toBe('main')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('combobox', { name: 'Search' }).waitFor({ state: 'hidden' })
    await goTo(page, 'isolation')
    await expect.poll(() => focused(page)).toBe('Tenant settings')
    await expect.poll(() => page.title()).toBe('Tenant settings · Probity')
    await goTo(page, 'users')
    await expect.poll(() => focused(page)).toBe('Users')
    await page.keyboard.press('Tab')
    await expect.poll(() => focused(page)).toBe('Invite a user')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate('document.activeElement.labels?.[0]?.textContent')).toContain('Name')
    await page.keyboard.type('Kay Keyboard')
    await page.keyboard.press('Tab')
    await page.keyboard.type('kay@example.com')
    await page.keyboard.press('Enter')
    await page.getByText('Kay Keyboard invited').waitFor()
    await expect.poll(() => focused(page)).toBe('Invite a user')
    await navigation(page).getByRole('button', { name: 'Work' }).focus()
    await page.keyboard.press('Enter')
    await navigation(page).getByRole('link', { name: 'Jobs' }).waitFor({ state: 'hidden' })
    expect(seen).toEqual(noProblems)
    await close()
  })
})

/** How much lighter one colour of a tinted mark is than the other: by name, as a canvas paints them. */
const contrasts = `(() => {
  const canvas = document.createElement('canvas').getContext('2d')
  const light = (color) => {
    canvas.fillStyle = color
    canvas.fillRect(0, 0, 1, 1)
    const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data]
      .map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
  }
  return ['teal', 'cyan', 'indigo', 'orange', 'yellow', 'red', 'gray'].map((name) => {
    const mark = document.body.appendChild(document.createElement('i'))
    mark.style.color = 'var(--mantine-color-' + name + '-light-color)'
    mark.style.backgroundColor = 'var(--mantine-color-' + name + '-light)'
    const { color, backgroundColor } = getComputedStyle(mark)
    const [more, less] = [light(color), light(backgroundColor)].sort((one, two) => two - one)
    return [name, more / less]
  })
})()`

describe('console pages', () => {
  browserTest.each(['light', 'dark'] as const)('have sufficient contrast on badges (%s)', async (colorScheme) => {
    const { page, close } = await at(tara, '/', { colorScheme })
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
    const found = (await page.evaluate(contrasts)) as [name: string, ratio: number][]
    expect(found).toHaveLength(7)
    expect(found.filter(([, ratio]) => ratio < 4.5)).toEqual([])
    await close()
  })

  browserTest('open and close their navigation on a narrow screen', async () => {
    const { page, seen, close } = await at(tara, '/', { viewport: PHONE })
    await page.getByRole('button', { name: 'Navigation' }).click()
    await navigation(page).getByRole('link', { name: 'Jobs' }).click()
    await pageHeading(page, 'Jobs').waitFor()
    await navigation(page).waitFor({ state: 'hidden' })
    expect(seen).toEqual(noProblems)
    await close()
  })
})
