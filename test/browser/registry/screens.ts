/** The registry pages on wide and narrow screens in light and dark mode. */
import { describe, expect } from 'vitest'
import { expectFitsScreens, waitUntilLoaded } from '../page-session.ts'
import { at, base, browserTest, clara, noProblems } from './setup.ts'

describe('registry pages', () => {
  browserTest('fits wide and narrow screens in light and dark mode', async () => {
    const { page, seen, close } = await at(clara, '/datasets')
    const places = {
      entries: '/datasets/demo-sanctions?tab=entries',
      difference: '/datasets/demo-sanctions/diff?from=1&to=3',
      type: '/types/sanctioned-party',
      define: '/types/new',
    }
    for (const [name, place] of Object.entries(places)) {
      await page.goto(`${base}${place}`)
      await waitUntilLoaded(page)
      await expectFitsScreens(page, `registry-page-${name}`)
    }
    expect(seen).toEqual(noProblems)
    await close()
  })
})
