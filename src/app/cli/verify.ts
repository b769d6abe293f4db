/** `verify audit FILE`: checks an exported audit record offline, with nothing but the file and a public key. */
import fs from 'node:fs'
import readline from 'node:readline'
import { ExportUnreadable, verifyExport } from '../../kernel/audit/export-file.ts'
import type { Command } from './command.ts'

const SHOWN_FAULTS = 20

export const verifyAudit: Command = {
  name: 'verify audit',
  summary: 'Verify an exported audit record offline',
  about: `
FILE is the download of GET /api/audit/exports/{export_id}/content. With --key, checkpoints must be signed by that public key
(GET /api/audit/checkpoints shows it; keep it outside); without it the file can only be shown to be consistent in itself.
Exit code 0 when intact, 1 when not.

Example:
  npx probity verify audit audit.ndjson --key PUBLIC_KEY`,
  options: {
    key: { type: 'string', value: 'PUBLIC_KEY', about: 'the public key you hold' },
    json: { type: 'boolean', about: 'print the whole report as JSON' },
  },
  positionals: ['FILE'],
  run: async ({ args, terminal }) => {
    const [file] = args.positionals as [string]
    if (!fs.existsSync(file)) throw new Error(`There is no file ${file}.`)
    const lines = readline.createInterface({ input: fs.createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
    let report: Awaited<ReturnType<typeof verifyExport>>
    try {
      report = await verifyExport(lines, args.text('key'))
    } catch (error) {
      if (!(error instanceof ExportUnreadable)) throw error
      throw new Error(`${file}: ${error.message}`, { cause: error })
    }
    if (args.flag('json')) terminal.out(JSON.stringify(report, null, 2))
    else {
      terminal.out(
        `${report.intact ? 'Intact' : 'NOT INTACT'}: ${report.events} events (${report.first_seq} to ${report.last_seq}) of tenant ${report.tenant_id}, ` +
          `${report.checkpoints} signed checkpoints, key ${report.key_id}${args.text('key') ? '' : ' (taken from the file itself)'}`,
      )
      for (const { seq, fault, detail } of report.faults.slice(0, SHOWN_FAULTS)) {
        terminal.out(`  ${seq === null ? '' : `at ${seq}: `}${fault}: ${detail}`)
      }
      if (report.faults_total > SHOWN_FAULTS) terminal.out(`  and ${report.faults_total - SHOWN_FAULTS} more`)
    }
    return report.intact ? 0 : 1
  },
}
