/** `openapi`: prints the OpenAPI document of this version from the declarations; uses no database. */
import fs from 'node:fs'
import { describeApi } from '../api-document.ts'
import { modules } from '../modules.ts'
import type { Command } from './command.ts'

export const openapi: Command = {
  options: { out: { type: 'string', value: 'FILE', about: 'write it to a file instead' } },
  run: async ({ args, config, project, terminal }) => {
    const text = JSON.stringify(await describeApi(modules, project.version, config().public_url), null, 2)
    const file = args.text('out')
    if (file === undefined) {
      terminal.out(text)
      return 0
    }
    try {
      fs.writeFileSync(file, `${text}\n`)
    } catch (error) {
      throw new Error(`${file} cannot be written: ${(error as Error).message}`, { cause: error })
    }
    terminal.note(`Wrote ${file}`)
    return 0
  },
}
