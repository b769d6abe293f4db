/** The first lines of the report of a case: its state, how it was closed before, and whether it rests on a test. */
import { toName } from '#kernel/auth/actor-names.ts'
import type { ReportBlock, ReportFormat } from '#kernel/report-template.ts'
import { describeClosing } from './case-closings.ts'
import type { CollectedCase } from './collect-case.ts'

const toSentence = (code: string): string => code.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase())

/** E1, E2 in the order in which they were attached, as the pages of the case number them. */
export function numberEvidence({ evidence }: CollectedCase): (evidence_id: string) => string {
  const places = new Map(evidence.map(({ evidence_id }, place) => [evidence_id, `E${place + 1}`]))
  return (evidence_id) => places.get(evidence_id) ?? 'evidence that is not attached'
}

export function describeState(data: CollectedCase, format: ReportFormat): ReportBlock {
  const { investigation, outcome, names, closings } = data
  const before = describeEarlier(data, format)
  const { state, proposal, closed_by, closed_at } = investigation
  const proposed = proposal
    ? `Proposed by ${toName(names, proposal.proposed_by)}, ${format.instant(proposal.proposed_at)}.`
    : ''
  const title = outcome ? `${outcome.title} (${outcome.code})` : toSentence(state)
  if (state === 'closed')
    return {
      kind: 'callout',
      tone: 'neutral',
      title: `Closed: ${title}`,
      text: `${proposed} Closed by ${toName(names, closed_by)}, ${format.instant(closed_at)}. ${[outcome?.text, before].filter(Boolean).join(' ')}`.trim(),
    }
  if (state === 'proposed') {
    const text = [`${proposed} Not closed yet.`, before].filter(Boolean).join(' ')
    return { kind: 'callout', tone: 'warning', title: `Proposed: ${title}`, text }
  }
  if (state === 'open' && closings.length > 0)
    return { kind: 'callout', tone: 'warning', title: 'Closed, sealed and opened again', text: before }
  return { kind: 'callout', tone: 'warning', title: toSentence(state), text: stateTexts[state] }
}

/** Earlier closings, oldest first; the one that holds now is said before. */
function describeEarlier({ investigation, closings, names }: CollectedCase, format: ReportFormat): string {
  const isClosed = investigation.state === 'closed'
  const earlier = (isClosed ? closings.slice(1) : closings).toReversed()
  if (earlier.length === 0) return ''
  const said = earlier.map((closing) => describeClosing(closing, names, format)).join(' ')
  if (isClosed) return `Before that: ${said}`
  const now = investigation.state === 'open' ? 'Since then nothing is decided.' : ''
  return [said, now, 'What was sealed stays as it was; the last pages say how to verify it.'].filter(Boolean).join(' ')
}

/** A reader must not take what a recorded answer says for what a provider found. */
export function describeTest(data: CollectedCase): ReportBlock[] {
  if (!data.investigation.is_test) return []
  const getEvidenceName = numberEvidence(data)
  const items = data.evidence.filter((item) => item.is_test && item.detached_at === null)
  const cited = items.map(({ evidence_id }) => getEvidenceName(evidence_id)).join(', ')
  return [
    {
      kind: 'callout',
      tone: 'warning',
      title: 'Test',
      text: `No live provider gave ${cited === '' ? 'some of the evidence' : `the answers of ${cited}`}: they were recorded, examples, or of a test system. The outcome rests on a test.`,
    },
  ]
}

const stateTexts = {
  open: 'The investigation is open; nothing is decided.',
  merged: 'Another investigation goes on with it.',
  ended: 'Its subject was erased; it has no outcome.',
} as const
