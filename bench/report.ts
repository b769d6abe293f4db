/**
 * The files of one report of 20 pages: the PDF, with the process that typesets it, beside the page in HTML and beside a limit of five seconds.
 */
import path from 'node:path'
import { ThreadAdmission } from '#kernel/thread-admission.ts'
import { createPrinting } from '#kernel/typesetting/printing.ts'
import { renderFormat } from '#modules/reports/render/render-report.ts'
import type { Manifest, Snapshot } from '#modules/reports/snapshot.ts'
import { median } from './median.ts'
import type { Comparison } from './registry-bench.ts'

const ROUNDS = 7
/** Twenty pages. */
const ROWS = 860
const LIMIT_MS = 5_000

const names = ['Анна Петрова', 'José Núñez', 'محمد العلي', 'Zoë Müller', 'Łukasz Żak']
const kinds = ['Rating', 'Alert', 'Registry extract', 'Provider call', 'Note']

const snapshot: Snapshot = {
  format: 'probity-report/1',
  salt: '0'.repeat(32),
  report_id: '0190d7a0-5b1c-7c3e-9f2a-1b2c3d4e5f60',
  template: { key: 'bench', version: 1, title: 'Bench' },
  issuer: 'Demo Bank',
  locale: 'en-GB',
  time_zone: 'UTC',
  is_restricted: false,
  created_at: '2026-03-02T09:30:00.000Z',
  created_by: 'Clara Compliance',
  data: {},
  document: {
    title: 'Subject dossier',
    subtitle: names[0] as string,
    blocks: [
      {
        kind: 'chart',
        type: 'bar',
        title: 'Subjects by rating',
        labels: ['Low', 'Medium', 'High'],
        series: [{ title: 'Subjects', values: [412, 188, 57] }],
      },
    ],
    sections: [
      {
        title: 'Evidence',
        blocks: [
          {
            kind: 'table',
            columns: ['Number', 'Time', 'What', 'Who', 'Hash'].map((title) => ({ title, width: 1 })),
            rows: Array.from({ length: ROWS }, (_, at) => [
              String(at + 1),
              `2026-03-02 10:${String(at % 60).padStart(2, '0')}`,
              kinds[at % kinds.length] as string,
              names[at % names.length] as string,
              (at * 2_654_435_761).toString(16).slice(-8),
            ]),
            empty: '–',
          },
        ],
      },
    ],
  },
}

const manifest: Manifest = {
  template: { key: 'bench', version: 1, sha256: '0'.repeat(64) },
  renderer: 1,
  engine: null,
  fonts: [],
  locale: 'en-GB',
  time_zone: 'UTC',
  parameters: {},
  receipts: [],
  list_versions: [],
  snapshot_sha256: '0'.repeat(64),
  created_at: snapshot.created_at,
}

export async function measureReports(project_root: string, script: string): Promise<Comparison[]> {
  const settings = { assets_dir: path.join(project_root, 'assets') }
  const printing = createPrinting(settings, { script, admission: new ThreadAdmission({ threads: 1 }) })
  const time = async (format: 'pdf' | 'html') => {
    const started = performance.now()
    const bytes = await renderFormat(printing, format, { snapshot, manifest }, { caller: 'bench' })
    return { ms: performance.now() - started, bytes }
  }
  const { bytes } = await time('pdf')
  const pages = bytes.toString('latin1').match(/<xmpTPg:NPages>(\d+)</)?.[1]
  const rounds: { pdf_ms: number; html_ms: number }[] = []
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({ pdf_ms: (await time('pdf')).ms, html_ms: (await time('html')).ms })
  const pdf_ms = median(rounds.map((round) => round.pdf_ms))
  const html_ms = median(rounds.map((round) => round.html_ms))
  const label = `PDF of ${pages} pages, process included`
  return [
    {
      label: `${label}, beside HTML of the same snapshot`,
      entries: ROWS,
      ours: `${pdf_ms.toFixed(0)} ms`,
      baseline: `${html_ms.toFixed(1)} ms`,
      ratio: median(rounds.map((round) => round.html_ms / round.pdf_ms)),
    },
    {
      label: `${label}, beside the limit of 5 s`,
      entries: ROWS,
      ours: `${pdf_ms.toFixed(0)} ms`,
      baseline: 'limit 5 s',
      ratio: median(rounds.map((round) => LIMIT_MS / round.pdf_ms)),
      aim: 1,
      floor: 1,
    },
  ]
}
