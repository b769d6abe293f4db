import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from '#test/support/database.ts'
import { readConfig } from './config.ts'
import { openEnvironment } from './environment.ts'

test('an empty data folder is refused with the command that makes an empty database', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-empty-'))
  try {
    const config = readConfig({ PROBITY_DATA_DIR: folder })
    const project = { root: projectRoot, version: '0.0.0' } as never
    const opened = openEnvironment({ config, project, access: 'borrow', name: 'restore' })
    await expect(opened).rejects.toThrow(
      'yet. Run "npx probity migrate" for an empty one (restore needs that), or "npx probity start", which also fills it.',
    )
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
})
