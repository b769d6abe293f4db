/** Earlier versions of a narrative: who wrote each, when, and what it changed. */
import '#console/ui/registry.css'
import { Badge, Checkbox, Group, Select, Text } from '@mantine/core'
import { isProblem, type Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { formatDateTime } from '#console/ui/date-format.ts'
import { ReadDialog } from '#console/ui/dialog.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { type NumberedEvidence, narrativeQuery } from './investigation-queries.ts'
import { diffParagraphs, type ParagraphDifference } from './narrative-difference.ts'
import { Citations } from './paragraph.tsx'

type Version = Schemas['NarrativeVersion']

const MAX_VERSIONS = 100

interface NarrativeVersionsProps {
  readonly investigation_id: string
  /** The newest version. */
  readonly newest: number
  readonly evidence: NumberedEvidence
  readonly onClose: () => void
}

export function NarrativeVersions({ investigation_id, newest, evidence, onClose }: NarrativeVersionsProps) {
  const [version, setVersion] = useState(newest)
  const [isCompared, setCompared] = useState(true)
  const { data: versions } = useQuery({
    queryKey: ['investigations', 'narrative-versions', investigation_id, newest],
    queryFn: ({ signal }) =>
      probity.GET('/api/investigations/{investigation_id}/narrative/versions', {
        params: { path: { investigation_id }, query: { limit: MAX_VERSIONS } },
        signal,
      }),
    throwOnError: false,
  })
  const shown = useVersion(investigation_id, version)
  const before = useVersion(investigation_id, version - 1)
  const isReady = shown.data !== undefined && (before.data !== undefined || !isCompared || before.error !== null)
  const earlier = isCompared ? (before.data?.paragraphs ?? []) : (shown.data?.paragraphs ?? [])
  return (
    <ReadDialog title="Versions of the narrative" onClose={onClose} size="lg">
      <Group gap="md" align="flex-end">
        <Select
          label="Version"
          data-autofocus
          allowDeselect={false}
          w={{ base: '100%', sm: 320 }}
          data={(versions?.items ?? []).map(toChoice)}
          value={String(version)}
          onChange={(next) => next !== null && setVersion(Number(next))}
        />
        <Checkbox
          label={`Changes since version ${version - 1}`}
          checked={isCompared && version > 1}
          disabled={version === 1}
          onChange={(event) => setCompared(event.currentTarget.checked)}
          mb={8}
        />
      </Group>
      <WrittenBy version={versions?.items.find((one) => one.version === version)} />
      <ProblemNote problem={isProblem(shown.error) ? shown.error : null} />
      {shown.error === null && !isReady && <ListSkeleton />}
      {isReady &&
        diffParagraphs(version === 1 ? (shown.data?.paragraphs ?? []) : earlier, shown.data?.paragraphs ?? []).map(
          (difference, place) => <Difference key={place} of={difference} evidence={evidence} />,
        )}
    </ReadDialog>
  )
}

const useVersion = (investigation_id: string, version: number) =>
  useQuery({ ...narrativeQuery(investigation_id, version), enabled: version > 0, throwOnError: false })

const toChoice = ({ version, written_at }: Version) => ({
  value: String(version),
  label: `Version ${version}, ${formatDateTime(written_at)}`,
})

const WrittenBy = ({ version }: { readonly version: Version | undefined }) =>
  version && (
    <Text size="xs" c="dimmed" component="div" className="narrative-author">
      Written by <Principal of={version.written_by} isAlwaysNamed />
    </Text>
  )

const kindTexts: Readonly<
  Record<Exclude<ParagraphDifference['kind'], 'same'>, readonly [text: string, color: string]>
> = { added: ['added', 'teal'], removed: ['removed', 'red'], changed: ['changed', 'yellow'] }

interface DifferenceProps {
  readonly of: ParagraphDifference
  readonly evidence: NumberedEvidence
}

function Difference({ of: { kind, paragraph, pieces }, evidence }: DifferenceProps) {
  return (
    <div className="paragraph" data-kind={paragraph.kind}>
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          {paragraph.kind === 'fact' ? 'Fact' : 'Assessment'}
        </Text>
        {kind !== 'same' && (
          <Badge size="sm" variant="light" tt="none" color={kindTexts[kind][1]}>
            {kindTexts[kind][0]}
          </Badge>
        )}
      </Group>
      <div className="paragraph-text">
        {pieces.map((piece, place) => {
          if (piece.kind === 'same' || kind !== 'changed') return piece.text
          const Piece = piece.kind === 'added' ? 'ins' : 'del'
          return (
            <Piece key={place} className="piece">
              {piece.text}
            </Piece>
          )
        })}
      </div>
      <Citations cites={paragraph.cites} evidence={evidence} />
    </div>
  )
}
