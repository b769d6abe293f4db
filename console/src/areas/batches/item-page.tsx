/** One decision of a batch: its outcome, reasons, inputs and versions, made again and compared with what is stored. */
import '../../ui/registry.css'
import '../../ui/decision/decision.css'
import { Alert, Stack, Text } from '@mantine/core'
import { isProblem, type Schemas } from '@probity/client'
import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { batchQuery } from '#console/ui/batch/batch-query.ts'
import { getBatchTitle } from '#console/ui/batch/batch-state.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { getKind, textQuery } from '#console/ui/decision/definition-kind.ts'
import { parseDefinition } from '#console/ui/decision/definition-model.ts'
import { useDefinitionName } from '#console/ui/decision/definition-name.tsx'
import { ExplanationView } from '#console/ui/decision/explanation.tsx'
import { ResultMark } from '#console/ui/decision/outcome.tsx'
import { Verdict } from '#console/ui/decision/verdict.tsx'
import { VersionsUsed } from '#console/ui/decision/versions-used.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { SubjectName } from '#console/ui/subject-name.tsx'
import { subjectQuery } from '#console/ui/subject-queries.ts'

type Explained = Schemas['BatchItemExplanation']
/** Why nothing can be shown, by the code of the problem. */
type Hidden = 'content_corrupt' | 'erased' | 'transition_not_allowed'

const hiddenTexts: Readonly<Record<Hidden, readonly [title: string, text: string]>> = {
  content_corrupt: [
    'Altered record',
    'Made again with the versions of the batch, the decision is not the stored one: the item, the receipt or a version was altered. Preserve the database as evidence.',
  ],
  erased: [
    'The content was erased',
    'The subject was erased, and the inputs and reasons with it. The result stays in the batch.',
  ],
  transition_not_allowed: ['Nothing was decided', 'This item failed. The batch shows what is wrong with it.'],
}

const isHidden = (code: string): code is Hidden => code in hiddenTexts

const explainedQuery = (batch_id: string, seq: string) =>
  queryOptions({
    queryKey: ['batches', 'explanation', batch_id, seq],
    queryFn: async ({ signal }): Promise<Explained | Hidden> => {
      try {
        return await probity.GET('/api/batch-evaluations/{batch_id}/items/{seq}/explanation', {
          params: { path: { batch_id, seq } },
          signal,
        })
      } catch (error) {
        if (isProblem(error) && isHidden(error.code)) return error.code
        throw error
      }
    },
    staleTime: 60_000,
  })

export default function ItemPage() {
  const { batch_id = '', seq = '' } = useParams({ strict: false }) as { batch_id?: string; seq?: string }
  const { data } = useSuspenseQuery(explainedQuery(batch_id, seq))
  if (typeof data === 'string') {
    const [title, text] = hiddenTexts[data]
    return (
      <Page title={`Item ${seq} of a batch`} trail={<Trail batch_id={batch_id} />}>
        <Alert color={data === 'content_corrupt' ? 'red' : 'gray'} title={title} role="status">
          <Text size="sm">{text}</Text>
        </Alert>
      </Page>
    )
  }
  return <ItemDecision one={data} />
}

function Trail({ batch_id }: { readonly batch_id: string }) {
  const { data: batch } = useQuery({ ...batchQuery(batch_id), throwOnError: false })
  return (
    <PageLink to={`/batches/${batch_id}`} inherit>
      {batch ? `Batch: ${getBatchTitle(batch)}` : 'Batch'}
    </PageLink>
  )
}

function ItemDecision({ one }: { readonly one: Explained }) {
  const { batch_id, seq, definition, lists, outcome, explanation } = one
  const { data: batch } = useSuspenseQuery(batchQuery(batch_id))
  const name = useDefinitionName({ ...definition, definition_key: definition.key })
  const may = usePermission()
  const { data: subject } = useQuery({
    ...subjectQuery(one.subject_id ?? ''),
    enabled: one.subject_id !== null && may('getSubject'),
    throwOnError: false,
  })
  const { data: text } = useQuery({
    ...textQuery(getKind(definition.family), definition.key, definition.version, definition.origin),
    throwOnError: false,
  })
  const decision = `Decision of ${name}, item ${seq}`
  return (
    <Page
      title={subject?.name ?? decision}
      mark={<ResultMark of={outcome} />}
      about={
        <>
          {subject && <span title={definition.key}>{decision}. </span>}In a batch of <DateTime at={batch.created_at} />,
          by <Principal of={batch.created_by} />
        </>
      }
      trail={<Trail batch_id={batch_id} />}
    >
      <Stack gap="md">
        <Replayed document_hash={one.document_hash} />
        <Section title="Outcome">
          <Verdict outcome={outcome} bands={text && parseDefinition(text.definition).bands} lists={lists} />
          <Text size="sm" mt="xs">
            {one.subject_id === null ? (
              'No subject: this decision rates nobody.'
            ) : (
              <>
                Subject: <SubjectName subject_id={one.subject_id} />
              </>
            )}
          </Text>
        </Section>
        <ExplanationView outcome={outcome} explanation={explanation} lists={lists} />
        <VersionsUsed definition={definition} lists={lists} />
        <Section title="Receipt">
          <Facts
            of={[
              ['Receipt', <CopyValue key="receipt" value={batch.receipt_id} name="the receipt id" />],
              ['Document hash', <CopyValue key="document" value={one.document_hash} name="the document hash" />],
              ['Valid at', <DateTime key="valid" at={batch.valid_at} />],
              ['Known at', <DateTime key="known" at={batch.known_at} />],
              ['Engine', `version ${batch.engine}`],
            ]}
          />
        </Section>
      </Stack>
    </Page>
  )
}

/** The server answers only what it has made again identically. */
function Replayed({ document_hash }: Pick<Explained, 'document_hash'>) {
  return (
    <Section title="Replay">
      <div className="replay replay-identical" role="status">
        <Icon name="check" size={26} />
        <b>Identical</b>
        <Text size="sm" c="var(--mantine-color-text)">
          Made again for this page with the versions that the batch used, the document has the stored hash{' '}
          {document_hash.slice(0, 16)}…
        </Text>
      </div>
      <Text size="xs" c="dimmed" mt="xs">
        A batch stores the inputs, the result and the hash of the document of each item, not the document. Whoever opens
        this page replays the decision; where the result is another one, this page says so and shows nothing else.
      </Text>
    </Section>
  )
}
