/** What docs/operations.md and docs/security.md name exists. */
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { describe, expect, inject, test } from 'vitest'
import { commands } from '#app/cli/commands.ts'
import { projectRoot } from '../support/database.ts'
import { renderRolePrivileges } from '../support/role-privileges.ts'
import { manifests, readProjectFile, requestLines } from './deploy-files.ts'

describe('documents', () => {
  const documents = ['docs/operations.md', 'docs/security.md']

  test('their commands are real, with options that exist', async () => {
    const texts = [...documents, 'deploy/Dockerfile', ...manifests].map(readProjectFile).join('\n')
    const called = [...texts.matchAll(/npx probity ([a-z][^`\n|>#"]*)/g)].map(([, words]) =>
      (words as string).trim().split(/\s+/),
    )
    expect(called.length).toBeGreaterThan(20)
    for (const words of called) {
      if (words[0] === 'help') continue
      const entry =
        commands.find(({ name }) => name === words.slice(0, 2).join(' ')) ??
        commands.find(({ name }) => name === words[0])
      expect(entry, words.join(' ')).toBeDefined()
      const command = await entry?.load()
      const options = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2).replace(/[.,;:]$/, ''))
      for (const option of options) expect(Object.keys(command?.options ?? {}), words.join(' ')).toContain(option)
    }
  })

  test('the endpoints they name are declared, and their links lead somewhere', () => {
    for (const file of documents) {
      const text = readProjectFile(file)
      const named = [...text.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/api\/[^`?]*)[^`]*`/g)]
      const declared = requestLines.map((at) => at.replace(/:(\w+)/g, '{$1}'))
      expect(named.map(([, method, at]) => `${method} ${at}`).filter((at) => !declared.includes(at))).toEqual([])
      for (const [, target = ''] of text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
        expect(fs.existsSync(path.join(projectRoot, 'docs', target)), `${file}: ${target}`).toBe(true)
      }
    }
  })

  test('docs/security.md says what each database role can reach, as the catalogue has it', async () => {
    const client = new pg.Client(inject('connections').postgres)
    await client.connect()
    const table = await renderRolePrivileges(client).finally(() => client.end())
    const file = path.join(projectRoot, 'docs/security.md')
    const between = /(<!-- reach:begin[^\n]*-->\n)[\s\S]*?(<!-- reach:end -->)/
    const wanted = readProjectFile('docs/security.md').replace(
      between,
      (_, begin, end) => `${begin}\n${table}\n\n${end}`,
    )
    if (process.env['PROBITY_WRITE_DOCS']) fs.writeFileSync(file, wanted)
    expect(table.split('\n').length).toBeGreaterThan(18)
    expect(
      readProjectFile('docs/security.md') === wanted,
      'docs/security.md is stale: run "npm run docs -- schema" and commit it',
    ).toBe(true)
  })
})
