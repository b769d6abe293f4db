/** Goes from one page of the console to the next without loading it again. */
import type { Page } from 'playwright-core'

/**
 * The address changes without a reload, so that axe and the parts of the console stay loaded. The heading cannot tell
 * that the page has changed: two pages of one route keep it. The router knows when the page of the address is drawn.
 */
export async function navigate(page: Page, address: string): Promise<void> {
  await page.evaluate(`history.pushState({}, '', ${JSON.stringify(address)})`)
  await page.waitForFunction(`(() => {
    const { status, resolvedLocation } = window.__TSR_ROUTER__.state
    return status === 'idle' && resolvedLocation?.publicHref === location.pathname + location.search
  })()`)
  const main = page.getByRole('main')
  await main.getByRole('heading', { level: 1 }).first().waitFor()
  await main.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
}
