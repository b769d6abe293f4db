/** A sample of the pages of the console without overflow and without a violation that axe finds: wide and light, fewer narrow and dark. */
import fs from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { announceSampling, sample } from '../../support/sampling.ts'
import { DESKTOP, getOverflow, PHONE, takeScreenshot } from '../page-session.ts'
import { navigate } from './navigate.ts'
import { readPagePaths, toAddress, viewsByQuery } from './routes.ts'
import { at, browserTest, noProblems, personRoles, tenant } from './setup.ts'

const axeSource = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The violations as `rule: element`, at most three elements of each. The frame around the pages is checked with the first of them. */
const findViolations = (page: Page, hasFrame: boolean): Promise<string[]> =>
  page.evaluate(`axe.run(${hasFrame ? 'document' : "{ exclude: ['.bar', '.side'] }"}, {
    iframes: false,
    resultTypes: ['violations'],
  }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.slice(0, 3).map(({ html, any, failureSummary }) =>
      id + ': ' + html.slice(0, 160) + ' ' + (any[0]?.message ?? failureSummary ?? '').slice(0, 140))))`)

/** Each with all rules: other colours, and a narrow layout, break other ones. */
const views = [
  { viewport: DESKTOP, colorScheme: 'light' },
  { viewport: PHONE, colorScheme: 'dark' },
] as const
type View = (typeof views)[number]

async function showAs(page: Page, { viewport, colorScheme }: View): Promise<void> {
  await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme })
  await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
}

announceSampling('a twelfth of the pages for width and the rules of accessibility, half of them also narrow and dark')

describe('a page of the console', () => {
  browserTest(
    'fits the screen and has no violation of an accessibility rule, wide and light, narrow and dark',
    async () => {
      const paths = readPagePaths()
      expect(paths.length).toBeGreaterThan(45)
      const all = [...paths, ...viewsByQuery]
      const pages = sample(all, Math.ceil(all.length / 12), 'pages')
      const addresses = await Promise.all(pages.map((page) => toAddress(tenant, page)))
      const { page, seen, close } = await at(await tenant.token(personRoles), '/')
      await page.evaluate(axeSource)
      const found: Record<string, string[]> = {}
      let current: View = views[0]
      const narrow = sample(pages, Math.ceil(pages.length / 2), 'narrow')
      for (const [place, address] of addresses.entries()) {
        await navigate(page, address)
        // A page begins with the view of the one before: drawing a page again takes time.
        const shown: View[] = views.filter(
          ({ viewport }) => viewport === DESKTOP || narrow.includes(pages[place] as string),
        )
        if (shown[0] !== current) shown.reverse()
        for (const view of shown) {
          current = view
          await showAs(page, view)
          const violations = await findViolations(page, place === 0)
          if (violations.length > 0) found[`${pages[place]} ${view.colorScheme}`] = violations
          await expect.poll(() => getOverflow(page), { message: `overflow of ${pages[place]}` }).toBe(0)
          const name = (pages[place] ?? '').replaceAll(/[^a-z]+/g, '-')
          await takeScreenshot(page, `accessible-${name}-${view.viewport.width}`)
        }
      }
      expect(found).toEqual({})
      // A fixture names a matrix that the tenant does not have.
      expect({ ...seen, failed: [] }).toEqual(noProblems)
      await close()
    },
    // Dozens of pages; what hangs is found by the time-out of each step.
    900_000,
  )
})
