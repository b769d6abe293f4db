/** The inbox: an analyst works with the keyboard, and a second person confirms a dismissal. */
import type { Locator } from 'playwright-core'
import { describe, expect } from 'vitest'
import { connect } from '../../isolation/support.ts'
import { expectFitsScreens, takeScreenshot } from '../page-session.ts'
import { at, browserTest, createPerson, noProblems, type Person, pageHeading, w } from './setup.ts'

const REPORT = {
  source: 'payment-monitor',
  facts: [{ name: 'list_entry', value: 'entry 4711, version 3' }],
  explanation: {
    sentence: 'The name and the date of birth agree with an entry of the watch list.',
    fields: [
      { name: 'Name', subject_value: 'Viktor Example', matched_value: 'EXAMPLE, Viktor', agrees: true },
      { name: 'Country', subject_value: 'AT', matched_value: 'RU', agrees: false },
    ],
    references: [{ kind: 'list_entry', id: 'watch-list 4711', version: 3 }],
  },
}

async function report(who: Person, key: string, priority: string, more: object = {}): Promise<void> {
  const body = { ...REPORT, dedup_key: key, title: `Match ${key} of the watch list`, priority, ...more }
  const { status } = await w.call('POST /alerts', { token: who.token, body })
  expect([200, 201]).toContain(status)
}

const current = (table: Locator) => table.locator('tr[aria-current]')

describe('the inbox', () => {
  browserTest('is worked with the keyboard: claim, dismiss with a reason, and a second person confirms', async () => {
    const tenant = await w.makeTenant()
    const anton = await createPerson('Anton Analyst', ['analyst'], { tenant })
    const beata = await createPerson('Beata Analyst', ['analyst'], { tenant })
    const { json: subject } = await w.call('POST /subjects', {
      token: anton.token,
      body: { subject_type: 'person', name: 'Viktor Example', attributes: {} },
    })
    const about = { subject_id: subject.subject_id }
    await report(anton, 'one', 'high', about)
    await report(anton, 'one', 'high', about)
    await report(anton, 'two', 'medium')
    await report(anton, 'three', 'low', about)

    const { page, seen, close } = await at(anton, '/inbox')
    const table = page.getByRole('table', { name: 'Alerts' })
    const panel = page.getByRole('region', { name: 'Chosen alert' })
    await current(table).getByText('Match one of the watch list').waitFor()
    await current(table).getByText('2 times').waitFor()
    await panel.getByRole('row', { name: /Name agrees Viktor Example/ }).waitFor()
    await page.keyboard.press('j')
    await current(table).getByText('Match two of the watch list').waitFor()
    await page.keyboard.press('k')
    await current(table).getByText('Match one of the watch list').waitFor()
    await page.keyboard.press('?')
    await page
      .getByRole('dialog', { name: 'Keys of the inbox' })
      .getByText('Claim the next that nobody works on')
      .waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.keyboard.press('c')
    await current(table).getByText('you', { exact: true }).waitFor()
    await expectFitsScreens(page, 'console-inbox')
    await page.setViewportSize({ width: 1600, height: 900 })
    await page.emulateMedia({ colorScheme: 'light' })
    await takeScreenshot(page, 'console-inbox-1600')

    // Snoozed to a time that the priority allows, and brought back.
    await page.keyboard.press('s')
    const snooze = page.getByRole('dialog', { name: 'Snooze the alert' })
    await snooze.getByText('Alerts of priority high: at most 7 days.').waitFor()
    await snooze.getByRole('button', { name: 'Snooze' }).click()
    await snooze.getByText('Choose a time.').waitFor()
    await snooze.getByRole('button', { name: 'In 4 hours' }).click()
    await takeScreenshot(page, 'console-inbox-snooze')
    await snooze.getByRole('button', { name: 'Snooze' }).click()
    await panel.getByText('Snoozed until').waitFor()
    await panel.getByRole('button', { name: 'Bring back now' }).click()
    await panel.getByRole('button', { name: 'Snooze' }).waitFor()

    // High priority: a second person confirms.
    await page.keyboard.press('d')
    const dismiss = page.getByRole('dialog', { name: 'Dismiss the alert' })
    await dismiss.getByRole('combobox', { name: 'Reason' }).fill('Not the same')
    await page.getByRole('option', { name: 'Not the same party' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await dismiss.getByLabel('Note').fill('Another date of birth in the passport')
    await takeScreenshot(page, 'console-inbox-dismiss')
    await dismiss.getByText('another person confirms the dismissal').waitFor()
    await dismiss.getByRole('button', { name: 'Propose dismissal' }).click()
    await panel.getByText('You proposed to dismiss it, so another person must confirm.').waitFor()
    await expect.poll(() => page.title()).toBe('Inbox · Probity')

    // Several at once: what breaks a rule is said before anything is done.
    for (const name of await table.getByRole('checkbox').all()) await name.check()
    const bar = page.getByRole('region', { name: 'Selected alerts' })
    await bar.getByText('3 alerts selected').waitFor()
    // The keys act on the selection, not on the current row.
    await table.getByRole('checkbox').first().blur()
    for (const [key, name] of [
      ['d', 'Dismiss: 3 alerts'],
      ['s', 'Snooze: 3 alerts'],
      ['y', 'Confirm dismissals: 3 alerts'],
    ] as const) {
      await page.keyboard.press(key)
      await page.getByRole('dialog', { name }).getByRole('button', { name: 'Close' }).click()
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    }
    await page.keyboard.press('e')
    const escalate = page.getByRole('dialog', { name: 'Escalate: 3 alerts' })
    await escalate.getByLabel('Note').fill('Belongs to one pattern')
    await escalate.getByText('1 alert: A dismissal waits').waitFor()
    await takeScreenshot(page, 'console-inbox-bulk')
    await escalate.getByRole('button', { name: 'Cancel' }).click()
    expect(seen).toEqual(noProblems)

    const waiting = await at(beata, '/')
    await waiting.page
      .getByRole('region', { name: 'Needs a second person' })
      .getByRole('link', { name: 'Dismiss: Match one of the watch list' })
      .waitFor()
    await takeScreenshot(waiting.page, 'console-second-person-home')
    await waiting.close()

    const second = await at(beata, '/inbox')
    await second.page.getByRole('button', { name: /^Second person ?[1-9]/ }).click()
    await second.page.getByRole('table', { name: 'Alerts' }).getByRole('row').first().waitFor()
    const shown = second.page.getByRole('region', { name: 'Chosen alert' })
    await shown.getByText('Another date of birth in the passport').waitFor()
    await second.page.keyboard.press('y')
    const confirm = second.page.getByRole('dialog', { name: 'Confirm the dismissal?' })
    await confirm.getByText('Match one of the watch list').waitFor()
    await confirm.getByRole('button', { name: 'Confirm the dismissal' }).and(second.page.locator(':focus')).waitFor()
    await confirm.getByRole('button', { name: 'Cancel' }).click()
    await confirm.waitFor({ state: 'hidden' })
    await shown.getByRole('link', { name: 'Open' }).click()
    await pageHeading(second.page, /^Alert [0-9a-f]{8}$/).waitFor()
    await expect.poll(() => second.page.title()).toMatch(/^Alert [0-9a-f]{8} · Probity$/)
    await expectFitsScreens(second.page, 'console-alert')
    await second.page.getByRole('button', { name: 'Confirm the dismissal' }).click()
    await second.page.getByRole('main').getByText('dismissed', { exact: true }).first().waitFor()
    // The next alert is chosen where the closed one was.
    await second.page.getByRole('link', { name: 'Inbox' }).first().click()
    await current(second.page.getByRole('table', { name: 'Alerts' }))
      .getByText('Match two of the watch list')
      .waitFor()
    expect(second.seen).toEqual(noProblems)
    await second.close()

    // On a telephone an alert opens on its own page.
    await page.setViewportSize({ width: 390, height: 844 })
    await table.getByRole('button', { name: 'Match two of the watch list' }).click()
    await pageHeading(page, /^Alert [0-9a-f]{8}$/).waitFor()
    await page.getByRole('button', { name: 'Assign' }).click()
    const assign = page.getByRole('dialog', { name: 'Assign the alert' })
    await assign.getByRole('combobox', { name: 'Person' }).fill('Beata')
    await page.getByRole('option', { name: 'Beata Analyst' }).click()
    await assign.getByRole('button', { name: 'Assign' }).click()
    await page.getByText('Beata Analyst works on it').waitFor()
    await takeScreenshot(page, 'console-alert-390')
    await close()

    const home = await at(anton, '/')
    await home.page
      .getByRole('region', { name: 'Your inbox' })
      .getByRole('link', { name: /open item/ })
      .first()
      .waitFor()
    await takeScreenshot(home.page, 'console-inbox-home')

    // Nothing is said about the inbox before it has answered.
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await home.page.route('**/api/work/mine?*', async (route) => {
      await released
      await route.continue()
    })
    const overview = home.page.waitForResponse('**/api/analytics/overview')
    await home.page.reload()
    await overview
    await home.page.getByRole('status', { name: 'Loading' }).first().waitFor()
    await expect.poll(() => home.page.getByText('Your inbox').isVisible()).toBe(false)
    release()
    await home.page.getByRole('region', { name: 'Your inbox' }).waitFor()
    await home.close()
  })

  browserTest('gives the next alert of the queues of the own team only, and says so', async () => {
    const tenant = await w.makeTenant()
    const anton = await createPerson('Anton Analyst', ['analyst'], { tenant })
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    await report(anton, 'one', 'medium')
    // Analysts are the team of this queue.
    const { page, seen, close } = await at(clara, '/inbox')
    const table = page.getByRole('table', { name: 'Alerts' })
    await current(table).getByText('Match one of the watch list').waitFor()
    await page.keyboard.press('n')
    await page.getByText('No alert waits for you in the queues of your team. Claim one from the list with c.').waitFor()
    await takeScreenshot(page, 'console-inbox-no-next')
    await page.getByRole('button', { name: /^Alerts ?1/ }).click()
    await page.getByRole('button', { name: 'Claim the next' }).click()
    await page.getByText('You are not in the team of the queue Alerts. Claim one from the list with c.').waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('asks before an alert is taken from a colleague', async () => {
    const tenant = await w.makeTenant()
    const anton = await createPerson('Anton Analyst', ['analyst'], { tenant })
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    await report(anton, 'one', 'medium')
    await w.call('POST /alerts/claim', { token: anton.token, body: {} })
    const { page, seen, close } = await at(clara, '/inbox')
    const table = page.getByRole('table', { name: 'Alerts' })
    const row = current(table)
    const panel = page.getByRole('region', { name: 'Chosen alert' })
    const dialog = page.getByRole('dialog', { name: 'Take over the alert' })
    await panel.getByRole('button', { name: 'Claim' }).click()
    await dialog.getByText('Anton Analyst works on this alert. Take it over?').waitFor()
    await takeScreenshot(page, 'console-inbox-take-over')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await row.getByText('Anton Analyst').waitFor()
    await page.keyboard.press('c')
    await dialog.getByRole('button', { name: 'Take over' }).and(page.locator(':focus')).waitFor()
    // A more urgent one comes to the top of the list; the dialog stays with its alert.
    await report(anton, 'two', 'critical')
    const [first, second] = [
      table.getByRole('row', { name: /Match two/ }),
      table.getByRole('row', { name: /Match one/ }),
    ]
    await first.waitFor()
    await page.keyboard.press('Enter')
    await second.getByText('you', { exact: true }).waitFor()
    await first.getByText('nobody').waitFor()
    await dialog.waitFor({ state: 'hidden' })
    // Nobody works on it any more: claimed without a question.
    await panel.getByRole('button', { name: 'Return to queue' }).click()
    await row.getByText('nobody').waitFor()
    await page.keyboard.press('c')
    await row.getByText('you', { exact: true }).waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('says that all of a selection can be done, and that nothing waits for a second person', async () => {
    const tenant = await w.makeTenant()
    const anton = await createPerson('Anton Analyst', ['analyst'], { tenant })
    const beata = await createPerson('Beata Analyst', ['analyst'], { tenant })
    for (const key of ['one', 'two', 'three']) await report(anton, key, 'high')
    const { page, seen, close } = await at(anton, '/inbox')
    const table = page.getByRole('table', { name: 'Alerts' })
    await page.getByRole('button', { name: /^Second person/ }).click()
    await page.getByText('Nothing waits for a second person').waitFor()
    await takeScreenshot(page, 'console-inbox-no-second-person')
    await page.getByRole('button', { name: /^All open/ }).click()
    await table.getByRole('row', { name: /Match three/ }).waitFor()
    for (const name of await table.getByRole('checkbox').all()) await name.check()
    await page.getByText('3 alerts selected').waitFor()
    await table.getByRole('checkbox').first().blur()
    await page.keyboard.press('e')
    const escalate = page.getByRole('dialog', { name: 'Escalate: 3 alerts' })
    await escalate.getByLabel('Note').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('Belongs to one pattern')
    await escalate.getByText('All 3 can be done.').waitFor()
    await takeScreenshot(page, 'console-inbox-all-possible')
    await escalate.getByRole('button', { name: 'Cancel' }).click()
    await escalate.waitFor({ state: 'hidden' })

    // A dismissal is confirmed with two keys.
    const [alert] = (await w.call('GET /alerts', { token: anton.token })).json.items
    await w.call(`POST /alerts/${alert.alert_id}/dismiss`, {
      token: anton.token,
      body: { reason_code: 'ALR_FALSE_MATCH' },
    })
    const second = await at(beata, '/inbox?view=second-person')
    await second.page
      .getByRole('region', { name: 'Chosen alert' })
      .getByText(/^Dismissal proposed/)
      .waitFor()
    await second.page.keyboard.press('y')
    const confirm = second.page.getByRole('dialog', { name: 'Confirm the dismissal?' })
    await confirm.getByRole('button', { name: 'Confirm the dismissal' }).and(second.page.locator(':focus')).waitFor()
    await second.page.keyboard.press('Enter')
    await second.page.getByText('Nothing waits for a second person').waitFor()
    expect([seen, second.seen]).toEqual([noProblems, noProblems])
    await Promise.all([close(), second.close()])
  })

  browserTest('does what was typed before the details of an alert have arrived, for that alert only', async () => {
    const tenant = await w.makeTenant()
    const anton = await createPerson('Anton Analyst', ['analyst'], { tenant })
    for (const name of ['one', 'two', 'three', 'four', 'five']) await report(anton, name, 'medium')
    const { page, close } = await at(anton, '/inbox')
    const table = page.getByRole('table', { name: 'Alerts' })
    await current(table).getByText('Match five of the watch list').waitFor()
    await page.getByRole('region', { name: 'Chosen alert' }).waitFor()
    // Every answer about one alert takes a while.
    await page.route(/\/api\/alerts\/[0-9a-f-]{36}$/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 400))
      await route.continue()
    })
    for (const key of ['x', 'j', 'x', 'j', 'x']) await page.keyboard.press(key)
    await expect.poll(() => table.getByRole('checkbox', { checked: true }).count()).toBe(3)
    for (const key of ['x', 'k', 'x', 'k', 'x']) await page.keyboard.press(key)
    await expect.poll(() => table.getByRole('checkbox', { checked: true }).count()).toBe(0)
    for (const key of ['j', 'j', 'j', 'c', 'j']) await page.keyboard.press(key)
    const claimed = table.getByRole('row').filter({ hasText: 'Match two of the watch list' })
    await claimed.getByText('you', { exact: true }).waitFor()
    await expect.poll(() => table.getByText('you', { exact: true }).count()).toBe(1)
    await current(table).getByText('Match one of the watch list').waitFor()
    await page.reload()
    await current(table).getByText('Match five of the watch list').waitFor()
    for (const key of ['j', 'j', 's']) await page.keyboard.press(key)
    await page.getByRole('dialog', { name: 'Snooze the alert' }).waitFor()
    await current(table).getByText('Match three of the watch list').waitFor()
    await close()
  })

  browserTest('is overdue in red on the home page, and is not restricted without saying who loses it', async () => {
    const tenant = await w.makeTenant()
    const anton = await createPerson('Anton Analyst', ['analyst'], { tenant })
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    await report(anton, 'late', 'high')
    const { items } = (await w.call('GET /alerts', { token: anton.token })).json
    const body = { user_id: anton.user_id }
    await w.call(`POST /alerts/${items[0].alert_id}/assign`, { token: anton.token, body })
    const superuser = await connect(w.clone.postgres)
    await superuser.query('set session_replication_role = replica')
    await superuser.query(
      `update app.work_clock set started_at = now() - interval '2 days', due_at = now() - interval '1 day' where tenant_id = $1`,
      [tenant],
    )
    await superuser.end()
    const analyst = await at(anton, '/')
    const due = analyst.page.getByRole('list', { name: 'Assigned to you' }).getByText('overdue')
    await expect.poll(() => due.evaluate(({ parentElement }) => parentElement?.getAttribute('style'))).toMatch(/red/)
    await takeScreenshot(analyst.page, 'console-home-overdue')
    await analyst.close()
    const { page, seen, close } = await at(clara, `/inbox/alerts/${items[0].alert_id}`)
    await page.getByRole('button', { name: 'Restrict', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Restrict the alert' })
    await dialog.getByText(/Anton Analyst works on it and, unless designated as the MLRO, loses it/).waitFor()
    await takeScreenshot(page, 'console-alert-restrict')
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('has suppressions that a second officer confirms, and second looks', async () => {
    const tenant = await w.makeTenant()
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    const otto = await createPerson('Otto Officer', ['compliance_officer'], { tenant })
    const body = { subject_type: 'person', name: 'Petra Payer', attributes: {} }
    const anton = await createPerson('Anton Analyst', ['analyst'], { tenant })
    await w.call('POST /subjects', { token: anton.token, body })
    const { page, seen, close } = await at(clara, '/inbox/suppressions')
    await page.getByRole('button', { name: 'Propose a suppression' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Propose a suppression' })
    await dialog.getByLabel('Source').fill('payment-monitor')
    await dialog.getByRole('combobox', { name: 'Subject' }).fill('Petra')
    await page.getByRole('option', { name: 'Petra Payer' }).click()
    const soon = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 16)
    await dialog.getByLabel('Expires').fill(soon)
    await dialog.getByRole('combobox', { name: 'Reason' }).fill('Faulty data')
    await page.getByRole('option', { name: 'Faulty data' }).click()
    await dialog.getByLabel('Explanation').fill('The feed repeats old payments until it is repaired')
    await dialog.getByRole('button', { name: 'Propose' }).click()
    await page.getByRole('table', { name: 'Suppressions' }).getByText('proposed', { exact: true }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Confirm' }).count()).toBe(0)
    const second = await at(otto, '/inbox/suppressions')
    await second.page.getByRole('link', { name: 'Petra Payer' }).waitFor()
    await second.page.getByRole('button', { name: 'Confirm' }).click()
    const confirm = second.page.getByRole('dialog', { name: 'Confirm the suppression' })
    await confirm.getByText('payment-monitor: Petra Payer, up to low').waitFor()
    await confirm.getByText('The feed repeats old payments until it is repaired').waitFor()
    await takeScreenshot(second.page, 'console-suppression-confirm')
    await confirm.getByRole('button', { name: 'Confirm' }).click()
    await second.page.getByText('active', { exact: true }).waitFor()
    await expectFitsScreens(second.page, 'console-suppressions')
    await second.page.getByRole('tab', { name: 'Second looks' }).click()
    await second.page.getByText('No dismissal waits for a second look').waitFor()
    expect([seen, second.seen]).toEqual([noProblems, noProblems])
    await Promise.all([close(), second.close()])
  })
})
