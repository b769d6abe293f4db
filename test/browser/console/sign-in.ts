/** Sign-in, renewal of the session and its end. */
import { describe, expect } from 'vitest'
import { openPage, signIn, takeScreenshot } from '../page-session.ts'
import { at, base, browser, browserTest, noProblems, pageHeading, tara, tenant_id, till, w } from './setup.ts'

describe('sign-in', () => {
  browserTest('accepts a token or a demo person on the requested page, and signs out', async () => {
    const { page, seen, close } = await openPage(browser, base, '/users?state=invited')
    await pageHeading(page, 'Sign in').waitFor()
    await takeScreenshot(page, 'console-sign-in')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('lovelace')
    await page.getByText('Sign in to search.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('combobox', { name: 'Search' }).waitFor({ state: 'hidden' })
    await signIn(page, tara.token)
    await page.getByRole('link', { name: 'Vera Viewer' }).waitFor()
    await page.getByRole('heading', { level: 1 }).and(page.locator(':focus')).waitFor()
    await expect.poll(() => page.url()).toBe(`${base}/users?state=invited`)
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await pageHeading(page, 'Decisions you can prove').waitFor()
    await expect.poll(() => page.evaluate('sessionStorage.length')).toBe(0)
    await page.goto(`${base}/evaluations`)
    await page.getByRole('button', { name: 'Sign in as an analyst of Demo Bank: Anton Analyst' }).click()
    await pageHeading(page, 'Evaluations').waitFor()
    await expect.poll(() => page.url()).toBe(`${base}/evaluations`)
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('returns from the identity provider to the requested page', async () => {
    const { page, seen, close } = await openPage(browser, base, '/favicon.svg')
    const provider = {
      issuer: 'https://id.example',
      client_id: 'console',
      authorization_endpoint: `${base}/provider/authorize`,
      token_endpoint: `${base}/provider/token`,
      scopes: ['openid'],
    }
    await page.route('**/api/auth/oidc', (route) => route.fulfill({ json: { items: [provider] } }))
    await page.route('**/provider/authorize?*', (route) => {
      const asked = new URL(route.request().url()).searchParams
      const back = `${asked.get('redirect_uri')}?code=one-time&state=${encodeURIComponent(asked.get('state') ?? '')}`
      return route.fulfill({ status: 302, headers: { location: back } })
    })
    await page.route('**/provider/token', (route) => route.fulfill({ json: { access_token: tara.token } }))
    await page.goto(`${base}/users?role=viewer`)
    await page.getByRole('button', { name: 'Sign in with id.example' }).click()
    await page.getByRole('link', { name: 'Vera Viewer' }).waitFor()
    await expect.poll(() => page.url()).toBe(`${base}/users?role=viewer`)
    await expect.poll(() => page.evaluate('Object.keys(sessionStorage)')).toEqual(['probity.token'])
    await page.goto(`${base}/sign-in/callback?code=again&state=forged`)
    await page.getByRole('alert').getByText('was not started in this tab').waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('renews the session at the identity provider, and reports when it ends', async () => {
    const { page, seen, close } = await openPage(browser, base, '/favicon.svg')
    const renewed = await w.token({
      tenant_id,
      roles: ['tenant_admin'],
      principal: `user:${tara.user_id}`,
      name: 'Tara',
    })
    const grant = {
      token_endpoint: `${base}/provider/token`,
      client_id: 'console',
      refresh_token: 'one',
      renew_at_ms: 0,
    }
    await page.evaluate(`sessionStorage.setItem('probity.token', 'expired.long.ago')
      sessionStorage.setItem('probity.grant', ${JSON.stringify(JSON.stringify(grant))})`)
    const asked: string[] = []
    await page.route('**/provider/token', (route) => {
      const given = new URLSearchParams(route.request().postData() ?? '').get('refresh_token') ?? ''
      asked.push(given)
      if (given !== 'one') return route.fulfill({ status: 400, json: { error: 'invalid_grant' } })
      return route.fulfill({ json: { access_token: renewed, refresh_token: 'two', expires_in: 3600 } })
    })
    await page.goto(`${base}/users`)
    await page.getByRole('link', { name: 'Vera Viewer' }).waitFor()
    expect(asked).toEqual(['one'])
    expect(seen).toEqual(noProblems)
    await page.evaluate(`sessionStorage.setItem('probity.grant', JSON.stringify(
      { ...JSON.parse(sessionStorage.getItem('probity.grant')), renew_at_ms: 0 }))`)
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByText('Your identity provider no longer renews it.').waitFor()
    await takeScreenshot(page, 'console-not-renewed')
    await expect.poll(() => page.evaluate('sessionStorage.length')).toBe(0)
    expect(asked).toEqual(['one', 'two'])
    await signIn(page, tara.token)
    await pageHeading(page, 'API keys').waitFor()
    await close()
  })

  browserTest('asks again when the server ends the session, on the same page', async () => {
    const ended = await w.person(tenant_id, ['tenant_admin'])
    const { page, close } = await at(ended, '/jobs')
    await pageHeading(page, 'Jobs').waitFor()
    await w.call(`POST /users/${ended.user_id}/deactivate`, { token: till.token })
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByText('The bearer token has been revoked').waitFor()
    await takeScreenshot(page, 'console-session-ended')
    await signIn(page, tara.token)
    await pageHeading(page, 'API keys').waitFor()
    await close()
  })
})
