/** Error pages for every kind of error response, and offline mode. */
import { describe, expect } from 'vitest'
import { takeScreenshot } from '../page-session.ts'
import { at, base, browserTest, navigation, noProblems, pageHeading, tara, vera, w } from './setup.ts'

describe('error pages', () => {
  const answer = (status: number, code: string, more: object = {}) => ({
    status,
    headers: { 'content-type': 'application/problem+json', 'retry-after': '3' },
    body: JSON.stringify({
      status,
      code,
      title: 'A title',
      detail: `Advice for ${code}.`,
      retryable: false,
      request_id: 'c0ffee00-0000-7000-8000-000000000000',
      ...more,
    }),
  })

  browserTest('name the required roles for 403', async () => {
    const { page, seen, close } = await at(vera, '/users')
    await pageHeading(page, 'Your roles do not include this').waitFor()
    await page.getByRole('list', { name: 'Roles' }).getByText('tenant admin').waitFor()
    await takeScreenshot(page, 'console-403')
    expect(seen).toEqual({ ...noProblems, failed: ['403 /api/users'] })
    await close()
  })

  browserTest('cover unknown objects and unknown addresses for 404', async () => {
    const { page, seen, close } = await at(tara, '/users/00000000-0000-7000-8000-000000000404')
    await pageHeading(page, 'Not found').waitFor()
    await page.goto(`${base}/users/nonsense`)
    await pageHeading(page, 'Not found').waitFor()
    expect(await page.getByText('validation_failed').count()).toBe(0)
    await page.goto(`${base}/no/such/page`)
    await pageHeading(page, 'Page not found').waitFor()
    await page.getByRole('link', { name: 'Go to the home page' }).click()
    await page.getByText('Signed in as Tara Admin.').waitFor()
    expect(seen.errors).toEqual([])
    await close()
  })

  browserTest('count down and retry for 429', async () => {
    const limited = await w.makeTenant()
    const lena = { user_id: '', token: await w.token({ tenant_id: limited, roles: ['tenant_admin'] }) }
    const { page, close } = await at(lena, '/users')
    await pageHeading(page, 'Users').waitFor()
    await page.route('**/api/jobs?*', (route) => route.fulfill(answer(429, 'rate_limited')))
    await page.getByRole('link', { name: 'Jobs' }).click()
    await pageHeading(page, 'Too many requests').waitFor()
    await page.getByText(/Trying again in [123] s/).waitFor()
    await takeScreenshot(page, 'console-429')
    await page.unroute('**/api/jobs?*')
    await pageHeading(page, 'Jobs').waitFor()
    await close()
  })

  browserTest('show advice and the request id for other errors, and recover on retry', async () => {
    const { page, close } = await at(tara, '/favicon.svg')
    for (const [status, code, title] of [
      [500, 'internal', 'Something went wrong on the server'],
      [503, 'dependency_unavailable', 'The service is busy'],
      [424, 'provider_credential_missing', 'A provider credential is missing'],
      [412, 'precondition_failed', 'Changed by someone else'],
    ] as const) {
      // A new document: nothing of the inbox is in its cache, so that the page asks for it.
      await page.goto(`${base}/`)
      await page.getByText('Signed in as Tara Admin.').waitFor()
      await page.route('**/api/change-requests/inbox?limit=50', (route) => route.fulfill(answer(status, code)))
      await navigation(page).getByRole('link', { name: 'Change requests' }).click()
      await pageHeading(page, title).waitFor()
      await page.getByText('c0ffee00-0000-7000-8000-000000000000').waitFor()
      await takeScreenshot(page, `console-${status}`)
      await page.unroute('**/api/change-requests/inbox?limit=50')
      await page.getByRole('button', { name: /^(Try again now|Reload)$/ }).click()
      await pageHeading(page, 'Change requests').waitFor()
    }
    await close()
  })

  browserTest('report an offline browser until it is online again', async () => {
    const { page, context, close } = await at(tara, '/users')
    await page.getByRole('link', { name: 'Vera Viewer' }).waitFor()
    await context.setOffline(true)
    await page.getByText('You are offline. The data shown may be out of date').waitFor()
    await page.getByRole('link', { name: 'Vera Viewer' }).click()
    await pageHeading(page, 'You are offline').waitFor()
    await takeScreenshot(page, 'console-offline')
    await context.setOffline(false)
    await pageHeading(page, 'Vera Viewer').waitFor()
    await close()
  })
})
