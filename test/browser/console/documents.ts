/** Documents: an officer stores one, looks at it, verifies it, and cannot delete it yet. */
import { describe, expect } from 'vitest'
import { connect } from '../../isolation/support.ts'
import { expectFitsScreens, takeScreenshot } from '../page-session.ts'
import { at, browserTest, createPerson, noProblems, pageHeading, w } from './setup.ts'

const TEXT = 'Statement of the customer, <b>3 March 2026</b>'

describe('a document', () => {
  browserTest('is stored about a subject from its page, and the restriction of a hold on it is its own', async () => {
    const tenant = await w.makeTenant()
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    const anton = await createPerson('Anton Analyst', ['analyst'], { tenant })
    const body = { subject_type: 'person', name: 'Dora Document', attributes: {} }
    const subject = (await w.call('POST /subjects', { token: anton.token, body })).json
    const { page, seen, close } = await at(clara, `/subjects/${subject.subject_id}`)
    await page.getByRole('link', { name: 'Store a document' }).click()
    const dialog = page.getByRole('dialog', { name: 'Store a document' })
    await expect.poll(() => dialog.getByRole('combobox', { name: 'Subject' }).inputValue()).toBe('Dora Document')
    const file = { name: 'statement.txt', mimeType: 'text/plain', buffer: Buffer.from(TEXT) }
    await dialog.getByLabel('File to store').setInputFiles(file)
    await dialog.getByText(/^statement.txt uploaded/).waitFor()
    // The title follows the file until somebody types one.
    const title = dialog.getByLabel('Title')
    await dialog.getByLabel('File to store').setInputFiles({ ...file, name: 'letter.txt' })
    await dialog.getByText(/^letter.txt uploaded/).waitFor()
    await expect.poll(() => title.inputValue()).toBe('letter.txt')
    await title.fill('My own title')
    await dialog.getByLabel('File to store').setInputFiles(file)
    await dialog.getByText(/^statement.txt uploaded/).waitFor()
    await expect.poll(() => title.inputValue()).toBe('My own title')
    await title.fill('statement.txt')
    await dialog.getByRole('button', { name: 'Store', exact: true }).click()
    await pageHeading(page, 'statement.txt').waitFor()
    await page.getByRole('link', { name: 'Dora Document' }).waitFor()
    await page.getByRole('link', { name: 'Place a hold' }).click()
    const hold = page.getByRole('dialog', { name: 'Place a hold' })
    await hold.getByText('A hold on a document is restricted together with the document, now or later.').waitFor()
    await expect.poll(() => hold.getByRole('combobox', { name: 'Restriction' }).count()).toBe(0)
    expect(seen).toEqual(noProblems)
    await close()
  })

  browserTest('is stored, shown as text, verified, kept by the retention policy, and found by search', async () => {
    const tenant = await w.makeTenant()
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    const officer = await at(clara, '/documents')
    const { page } = officer
    await page.getByText('No documents').waitFor()
    await page.getByRole('button', { name: 'Store a document' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Store a document' })
    const file = { name: 'statement.txt', mimeType: 'text/plain', buffer: Buffer.from(TEXT) }
    await dialog.getByLabel('File to store').setInputFiles(file)
    await dialog.getByText(/^statement.txt uploaded/).waitFor()
    await dialog.getByLabel('Title').fill('Statement of the customer')
    await dialog.getByLabel('Category').fill('statement')
    await takeScreenshot(page, 'console-document-new')
    await dialog.getByRole('button', { name: 'Store', exact: true }).click()

    await pageHeading(page, 'Statement of the customer').waitFor()
    const custody = page.getByRole('table', { name: 'Custody' })
    await custody.getByText('Received').waitFor()
    await page.getByRole('button', { name: 'Show' }).click()
    const shown = page.getByRole('region', { name: 'Text of the document' })
    await expect.poll(() => shown.textContent()).toBe(TEXT)
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('The bytes are unaltered').waitFor()
    await custody.getByText('Verified').waitFor()
    await custody.getByText('Read', { exact: true }).first().waitFor()

    await page.getByRole('button', { name: 'Delete' }).click()
    const remove = page.getByRole('dialog', { name: 'Delete the document' })
    await remove.getByLabel('Reason').fill('Uploaded by mistake')
    await remove.getByRole('button', { name: 'Delete' }).click()
    await remove.getByText(/^The retention policy keeps it until/).waitFor()
    await remove.getByRole('button', { name: 'Cancel' }).click()
    await expectFitsScreens(page, 'console-document')
    await page.goto(new URL('/search?q=statement', page.url()).href)
    await page
      .getByRole('main')
      .getByRole('link', { name: /Statement of the customer/ })
      .waitFor()
    expect(officer.seen.errors).toEqual(noProblems.errors)
    await officer.close()
  })
})

describe('an infected document', () => {
  browserTest('says so in the list and on its page, and is neither shown nor downloaded', async () => {
    const tenant = await w.makeTenant()
    const clara = await createPerson('Clara Compliance', ['compliance_officer'], { tenant })
    const { page, seen, close } = await at(clara, '/documents')
    await page.getByRole('button', { name: 'Store a document' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Store a document' })
    const file = { name: 'letter.txt', mimeType: 'text/plain', buffer: Buffer.from(TEXT) }
    await dialog.getByLabel('File to store').setInputFiles(file)
    await dialog.getByText(/^letter.txt uploaded/).waitFor()
    await dialog.getByRole('button', { name: 'Store', exact: true }).click()
    await pageHeading(page, 'letter.txt').waitFor()
    await page.getByRole('button', { name: 'Download' }).waitFor()
    const document_id = new URL(page.url()).pathname.split('/').at(-1)
    const superuser = await connect(w.clone.postgres)
    await superuser.query('set session_replication_role = replica')
    await superuser.query(
      `update app.document set scan_state = 'infected', scanned_at = now(), scan_result = 'Eicar-Test-Signature' where document_id = $1`,
      [document_id],
    )
    await superuser.end()
    await page.reload()
    await page.getByText('nobody can show or download it').waitFor()
    await page.getByText('infected', { exact: true }).first().waitFor()
    for (const name of ['Show', 'Download'])
      await expect.poll(() => page.getByRole('button', { name, exact: true }).count()).toBe(0)
    await takeScreenshot(page, 'console-document-infected')
    await page.getByRole('link', { name: 'Documents' }).first().click()
    await page
      .getByRole('row', { name: /letter.txt/ })
      .getByText('infected')
      .waitFor()
    expect(seen).toEqual(noProblems)
    await close()
  })
})
