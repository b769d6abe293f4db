/** The decision pages on wide and narrow screens in light and dark mode. */
import { describe, expect } from 'vitest'
import { expectFitsScreens, waitUntilLoaded } from '../page-session.ts'
import { ada, at, base, browserTest, clara, evaluation_id, MATRIX, noProblems, petra, w } from './setup.ts'

/** Controls that a screen reader could only call by their kind. */
const NAMELESS = `[...document.querySelectorAll('button, a[href], input:not([type=hidden]), textarea, [role=img]')]
  .filter((one) => one.checkVisibility() && one.closest('[aria-hidden=true]') === null)
  .filter((one) => ![one.getAttribute('aria-label'), one.getAttribute('aria-labelledby'), one.textContent?.trim(),
    one.labels?.[0]?.textContent].some(Boolean))
  .map((one) => one.outerHTML.slice(0, 200))`

describe('decision pages', () => {
  browserTest('fit wide and narrow screens in light and dark mode', async () => {
    const own = { rule_key: 'own-structuring', title: 'Our own structuring', from_key: 'cash-structuring' }
    await w.call('POST /rules', { token: petra, body: own })
    const { page, seen, close } = await at(clara, '/matrices')
    const places = {
      matrices: '/matrices',
      matrix: '/matrices/customer-risk-company',
      versions: `/matrices/${MATRIX}?tab=versions`,
      simulate: '/matrices/customer-risk-company?tab=simulate',
      rule: '/rules/cash-structuring',
      draft: '/rules/own-structuring/draft',
      difference: `/matrices/${MATRIX}/diff?from=1&to=2`,
      evaluations: '/evaluations',
      evaluation: `/evaluations/${evaluation_id}`,
      compared: `/evaluations/compare?one=${evaluation_id}`,
      batch: '/batches/new',
      subjects: '/subjects',
      upload: '/subjects/upload',
      subject: `/subjects/${ada}`,
    }
    for (const [name, place] of Object.entries(places)) {
      await page.goto(`${base}${place}`)
      await waitUntilLoaded(page)
      expect(await page.evaluate(NAMELESS), place).toEqual([])
      await expectFitsScreens(page, `decisions-page-${name}`)
    }
    expect(seen).toEqual(noProblems)
    await close()
  })
})
