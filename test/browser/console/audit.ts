/** The audit record: search, verification, export. */
import fs from 'node:fs'
import readline from 'node:readline'
import pg from 'pg'
import { describe, expect } from 'vitest'
import { verifyExport } from '#kernel/audit/export-verifier.ts'
import { tamper } from '#test/support/tampering.ts'
import { takeScreenshot } from '../page-session.ts'
import {
  at,
  auditChain,
  browserTest,
  ignoreUnknownActor,
  noProblems,
  pageHeading,
  tenant_id,
  udo,
  vera,
  w,
} from './setup.ts'

describe('audit record', () => {
  browserTest('can be searched, and shows an event and the history of its object', async () => {
    const { page, seen, close } = await at(udo, '/audit')
    await page.getByRole('link', { name: 'User invited' }).first().waitFor()
    await takeScreenshot(page, 'console-audit')
    await page.getByRole('combobox', { name: 'Action' }).fill('User roles changed')
    await page.getByRole('option', { name: 'User roles changed' }).click()
    await page.getByRole('textbox', { name: 'Object id' }).fill(vera.user_id)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'User invited' }).first().waitFor({ state: 'detached' })
    await expect.poll(() => new URL(page.url()).searchParams.get('operation')).toBe('updateUserRoles')
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await page.getByRole('combobox', { name: 'Time' }).click()
    await page.getByRole('option', { name: 'Last hour' }).click()
    await page.getByRole('textbox', { name: 'Object id' }).fill(vera.user_id)
    await page.keyboard.press('Enter')
    await page.getByText('1 row shown, no more').waitFor()
    await page.getByRole('link', { name: 'User invited' }).click()
    await pageHeading(page, 'User invited').waitFor()
    await page.getByRole('region', { name: 'Position in the chain' }).getByText('Hash', { exact: true }).waitFor()
    await takeScreenshot(page, 'console-audit-event')
    const person = page.getByRole('link', { name: 'Open the person' })
    await expect.poll(() => person.getAttribute('href')).toBe(`/users/${vera.user_id}`)
    await page.getByRole('link', { name: 'History of this object' }).click()
    await pageHeading(page, 'History: Users').waitFor()
    await page.getByRole('table', { name: 'Audit events' }).getByRole('link', { name: 'User invited' }).waitFor()
    expect(ignoreUnknownActor(seen)).toEqual(noProblems)
    await close()
  })

  browserTest('can be verified, and changes by a superuser are found', async () => {
    const { page, seen, close } = await at(udo, '/audit/verify')
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByRole('status').getByText('The audit record is intact').waitFor()
    const proof = page.getByRole('region', { name: 'Evidence' })
    await expect.poll(() => proof.innerText()).toMatch(/Sequence\s+1 to [0-9,]+\s+Head hash\s+[0-9a-f]{64}/)
    await takeScreenshot(page, 'console-audit-proof')
    const superuser = new pg.Client(w.clone.postgres)
    await superuser.connect()
    // Undoing puts the end of the chain back: nothing may be sealed meanwhile.
    await auditChain.stop()
    const undo = await tamper(superuser, tenant_id, 'edit an actor', 2)
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByRole('status').getByText('The audit record is not intact').waitFor()
    const faults = page.getByRole('table', { name: 'Findings' })
    await faults.getByRole('row', { name: /position 2 .*not written by this service/ }).waitFor()
    await takeScreenshot(page, 'console-audit-faults')
    const earlier = page.getByRole('table', { name: 'Verifications' })
    await earlier.getByRole('row', { name: /[0-9] faults?/ }).waitFor()
    await earlier
      .getByRole('row', { name: /intact/ })
      .getByRole('link')
      .click()
    await page.getByRole('status').getByText('The audit record is intact').waitFor()
    await undo()
    await superuser.end()
    auditChain.start()
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('can be exported as a verifiable file, and shows checkpoints', async () => {
    const { page, seen, close } = await at(udo, '/audit/exports')
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByText('The export is ready').waitFor()
    await takeScreenshot(page, 'console-audit-export')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    const lines = readline.createInterface({ input: fs.createReadStream(await download.path()) })
    expect(await verifyExport(lines, w.kernel.auditKeys.public_key)).toMatchObject({ intact: true, tenant_id })
    await page.getByRole('tab', { name: 'Checkpoints' }).click()
    await page.getByRole('table', { name: 'Checkpoints' }).getByText(w.kernel.auditKeys.key_id).first().waitFor()
    await takeScreenshot(page, 'console-audit-checkpoints')
    expect(seen).toEqual(noProblems)
    await close()
  })
})
