/** The registry's pages on wide and narrow screens, light and dark. */
import { describe, expect } from 'vitest'
import { expectFits, settled } from '../visitor.ts'
import { at, base, clara, clean, inBrowser } from './stage.ts'

describe('on any screen', () => {
  inBrowser('pages fit, wide and narrow, light and dark', async () => {
    const { page, seen, close } = await at(clara, '/datasets')
    const places = {
      entries: '/datasets/demo-sanctions?tab=entries',
      difference: '/datasets/demo-sanctions/diff?from=1&to=3',
      type: '/types/sanctioned-party',
      define: '/types/new',
    }
    for (const [name, place] of Object.entries(places)) {
      await page.goto(`${base}${place}`)
      await settled(page)
      await expectFits(page, `registry-page-${name}`)
    }
    expect(seen).toEqual(clean)
    await close()
  })
})
