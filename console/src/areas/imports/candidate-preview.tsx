/** The preview of a file that is read as one of the candidates of its detection, or why the whole file cannot be read. */
import { Alert, Group, Loader, Text } from '@mantine/core'
import { isProblem, type ProbityProblem, type Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { typeQuery } from '#console/ui/registry-queries.ts'
import { type Candidate, getCandidateId } from './detection.tsx'
import { Preview } from './preview.tsx'

type Upload = Schemas['Upload']

export interface CandidateProps {
  readonly upload: Upload
  readonly candidate: Candidate
  readonly type_key: string
}

/** Detection reads the beginning of a file only, so this may fail for a candidate without a reject. */
function useCandidatePreview({ upload, candidate, type_key }: CandidateProps) {
  const { data, error } = useQuery({
    queryKey: ['previews', upload.upload_id, getCandidateId(candidate)],
    queryFn: ({ signal }) =>
      probity.POST('/api/reference-data/adapters/{adapter_key}/preview', {
        params: { path: { adapter_key: candidate.adapter_key } },
        body: { upload_id: upload.upload_id, type_key, limit: 10, options: candidate.options },
        signal,
      }),
    staleTime: Number.POSITIVE_INFINITY,
    throwOnError: false,
  })
  return { preview: data ?? null, problem: isProblem(error) ? error : null }
}

/** Whether the file itself is the fault: then an import would fail too, after it created an empty list. */
export const useIsUnreadable = (props: CandidateProps): boolean =>
  useCandidatePreview(props).problem?.code === 'source_invalid'

/** The first entries and rejects, read from the whole file within the limits of a preview. */
export function CandidatePreview(props: CandidateProps) {
  const { data: type } = useQuery(typeQuery(props.type_key))
  const { preview, problem } = useCandidatePreview(props)
  if (problem) return <UnreadableFile problem={problem} />
  if (!preview || !type) {
    return (
      <Group gap="xs" role="status">
        <Loader size="xs" aria-hidden="true" />
        <Text size="sm">Reading the file for the preview…</Text>
      </Group>
    )
  }
  return <Preview preview={preview} type={type} />
}

/** The member of a `source_invalid` problem that says where reading stopped. */
interface SourceFault {
  readonly code: string
  readonly at?: { readonly line?: number; readonly file?: string }
}

/** Options can only be set for a list that exists, so the ones that the detail may name are not repeated for a cut-off file. */
function UnreadableFile({ problem }: { readonly problem: ProbityProblem }) {
  const fault = problem.members['source_fault'] as SourceFault | undefined
  if (problem.code !== 'source_invalid') return <ProblemNote problem={problem} />
  if (fault?.code !== 'truncated') {
    return (
      <>
        <ProblemNote problem={problem} />
        <Text size="sm">Drop another file above. {ownOptions}</Text>
      </>
    )
  }
  const file = fault.at?.file === undefined ? 'It' : `“${fault.at.file}”`
  const place = fault.at?.line === undefined ? 'too early' : `at line ${fault.at.line.toLocaleString('en')}`
  return (
    <Alert color="red" title="The file was cut off" role="alert">
      <Text size="sm">
        {file} ends {place}, before the list is complete. Nothing was imported. Download the file again and drop it
        above.
      </Text>
      {/* Only a layout with a mark at its end has an option for a complete file that looks cut off. */}
      {problem.detail.includes(' option ') && (
        <Text size="sm">If your copy is complete, {ownOptions.charAt(0).toLowerCase() + ownOptions.slice(1)}</Text>
      )}
    </Alert>
  )
}

const ownOptions =
  'To read it with other options, create the list first, choose it above, and set the options of its adapter.'
