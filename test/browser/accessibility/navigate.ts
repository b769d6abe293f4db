/** Goes from one page of the console to the next without loading it again. */
import type { Page } from 'playwright-core'

/** The address changes without a reload, so that axe and the parts of the console stay loaded. */
export async function navigate(page: Page, address: string): Promise<void> {
  await page.evaluate(`(() => {
    // Views of one page keep its heading.
    if (location.pathname !== ${JSON.stringify(address.split('?')[0])}) document.querySelector('h1')?.setAttribute('data-left', '')
    history.pushState({}, '', ${JSON.stringify(address)})
  })()`)
  const main = page.getByRole('main')
  await main.locator('h1:not([data-left])').first().waitFor()
  await main.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
}
