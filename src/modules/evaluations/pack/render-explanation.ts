/** Renders a decision document as plain text and as one self-contained HTML page. */
import type { DecisionContent } from '#decision/document.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { withoutJob } from '#kernel/database/actor-column.ts'
import type { EvaluationRow } from '../records/record.ts'

type Heading = Pick<EvaluationRow, 'evaluation_id' | 'subject_id' | 'decided_at' | 'created_by' | 'document_hash'>

interface Section {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export const toVerdict = ({ outcome }: DecisionContent): string =>
  outcome.family === 'matrix' ? `${outcome.band} (${outcome.score_bps} of 10000)` : outcome.hit ? 'hit' : 'no hit'

const toTitle = (content: DecisionContent): string =>
  `${content.family === 'matrix' ? 'Risk matrix' : 'Rule'} ${content.key}, version ${content.version}: ${toVerdict(content)}`

const plain = (value: unknown): string => (typeof value === 'string' ? value : canonicalJson(value ?? null))

function listFacts(row: Heading, { engine, valid_at, outcome }: DecisionContent): [string, string][] {
  const optional = (name: string, values: readonly string[]): [string, string][] =>
    values.length === 0 ? [] : [[name, values.join(', ')]]
  return [
    ['Evaluation', row.evaluation_id],
    ['Subject', row.subject_id ?? 'none named'],
    ['Decided', `${row.decided_at} by ${withoutJob(row.created_by)}`],
    ['With the versions of', valid_at ?? 'the instant of deciding'],
    ...(outcome.family === 'matrix' && outcome.scored_band !== outcome.band
      ? [['By its score alone', outcome.scored_band] as [string, string]]
      : []),
    ...optional('Required', outcome.required_actions),
    ...optional('Reason codes', outcome.reason_codes),
    ['Engine', String(engine)],
    ['Document hash', row.document_hash],
  ]
}

function buildSections({ explanation, lists }: DecisionContent): Section[] {
  const sections: Section[] = [
    {
      title: 'Factors',
      columns: ['Factor', 'Score', 'Weight', 'Contribution', 'Reason'],
      rows: explanation.factors.map((factor) => [
        factor.title,
        String(factor.score_bps),
        factor.weight_bps === null ? '' : String(factor.weight_bps),
        factor.contribution_bps,
        factor.reason,
      ]),
    },
    {
      title: 'Triggers that fired',
      columns: ['Trigger', 'At least', 'Required', 'Reason'],
      rows: explanation.triggers.map((trigger) => [
        trigger.title,
        trigger.floor_band ?? '',
        trigger.required_actions.join(', '),
        trigger.reason,
      ]),
    },
    {
      title: 'Rows that fired',
      columns: ['Row', 'Reason'],
      rows: explanation.rows.map(({ key, reason }) => [key, reason ?? '']),
    },
    {
      title: 'Inputs',
      columns: ['Input', 'Value', ''],
      rows: explanation.inputs.map(({ name, value, defaulted }) => [name, plain(value), defaulted ? 'by default' : '']),
    },
    {
      title: 'Lists',
      columns: ['List', 'Version', 'Content hash'],
      rows: lists.map(({ list_key, version, content_hash }) => [list_key, String(version), content_hash]),
    },
  ]
  return sections.filter(({ rows }) => rows.length > 0)
}

export function renderText(row: Heading, content: DecisionContent): string {
  const facts = listFacts(row, content).map(([name, value]) => `${`${name}:`.padEnd(22)}${value}`)
  const sections = buildSections(content).flatMap(({ title, columns, rows }) => [
    '',
    title,
    ...rows.map(
      (cells) =>
        `  - ${cells
          .map((cell, at) => (at === 0 ? cell : `${columns[at]} ${cell}`.trim()))
          .filter(Boolean)
          .join('; ')}`,
    ),
  ])
  return [toTitle(content), '', ...facts, '', ...content.explanation.summary, ...sections, ''].join('\n')
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] as string)

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #ddd;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{color:#666}dd{margin:0;overflow-wrap:anywhere}`

/** No script and no external resource, so that it opens offline and in the future. */
export function renderHtml(row: Heading, content: DecisionContent): string {
  const title = escapeHtml(toTitle(content))
  const facts = listFacts(row, content).map(
    ([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`,
  )
  const cells = (tag: 'th' | 'td', texts: readonly string[]) =>
    `<tr>${texts.map((text) => `<${tag}>${escapeHtml(text)}</${tag}>`).join('')}</tr>`
  const sections = buildSections(content).map(
    (section) =>
      `<h2>${escapeHtml(section.title)}</h2>\n<table>\n<thead>${cells('th', section.columns)}</thead>\n<tbody>\n` +
      `${section.rows.map((texts) => cells('td', texts)).join('\n')}\n</tbody>\n</table>`,
  )
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<title>${title}</title><style>${STYLE}</style></head><body>`,
    `<h1>${title}</h1>`,
    `<dl>${facts.join('')}</dl>`,
    ...content.explanation.summary.map((sentence) => `<p>${escapeHtml(sentence)}</p>`),
    ...sections,
    '</body></html>',
    '',
  ].join('\n')
}
