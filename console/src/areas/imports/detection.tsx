/** What an uploaded file looks like, and the ways to read it, best first. */
import { Alert, Group, Loader, Radio, Stack, Text } from '@mantine/core'
import type { ProbityProblem, Schemas } from '@probity/client'
import { isProblem } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { formatCount } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'

export type Detection = Schemas['Detection']
export type Candidate = Schemas['DetectionCandidate']

/**
 * Reads the first part of the file on the server; `list_key` limits the answer to the type of that list. Another value of `after`
 * repeats it.
 */
export function useDetection(upload_id: string | null, list_key?: string, after: string | null = null) {
  const { data, error, isFetching } = useQuery({
    queryKey: ['detections', upload_id, list_key, after],
    queryFn: ({ signal }) =>
      probity.POST('/api/reference-data/detections', {
        body: { upload_id: upload_id as string, ...(list_key && { list_key }) },
        signal,
      }),
    enabled: upload_id !== null,
    staleTime: Number.POSITIVE_INFINITY,
    throwOnError: false,
  })
  return {
    detection: data ?? null,
    problem: isProblem(error) ? (error as ProbityProblem) : null,
    isRunning: isFetching,
  }
}

export function DetectionProgress({
  isRunning,
  problem,
}: Pick<ReturnType<typeof useDetection>, 'isRunning' | 'problem'>) {
  return (
    <>
      {isRunning && (
        <Group gap="xs" role="status">
          <Loader size="xs" aria-hidden="true" />
          <Text size="sm">Finding out what the file holds…</Text>
        </Group>
      )}
      <ProblemNote problem={problem} />
    </>
  )
}

/** Names a candidate: one adapter may read a file as several types. */
export const getCandidateId = ({ adapter_key, type_key, options }: Candidate): string =>
  JSON.stringify([adapter_key, type_key, options])

interface CandidateChoiceProps {
  readonly detection: Detection
  readonly value: string | null
  readonly onChange: (id: string) => void
}

export function CandidateChoice({ detection, value, onChange }: CandidateChoiceProps) {
  const { candidates, looks_like, advice } = detection
  if (candidates.length === 0) {
    return (
      <Alert color="orange" icon={<Icon name="warning" />} title="This file cannot be imported as it is" role="status">
        <Text size="sm">
          It looks like {looks_like}. {advice ?? 'No adapter reads it.'}
        </Text>
      </Alert>
    )
  }
  return (
    <Radio.Group label="Read the file as" value={value} onChange={onChange}>
      <Stack gap="xs" mt="xs">
        {candidates.map((candidate, index) => (
          <Radio
            key={getCandidateId(candidate)}
            value={getCandidateId(candidate)}
            label={`${candidate.title}${candidate.type_key === null ? ', as a new type' : ''}${index === 0 ? ' (suggested)' : ''}`}
            description={<CandidateReason candidate={candidate} />}
          />
        ))}
      </Stack>
    </Radio.Group>
  )
}

function CandidateReason({ candidate: { reason, rejected, first_reject, notes } }: { readonly candidate: Candidate }) {
  return (
    <>
      {reason}
      {rejected > 0 && first_reject && (
        <>
          {' '}
          {formatCount(rejected, 'row')} rejected; the first: {first_reject.message}
        </>
      )}
      {notes.map((note) => (
        <span key={note}> {note}</span>
      ))}
    </>
  )
}
