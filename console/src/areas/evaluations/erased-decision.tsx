/** What remains of a decision after its subject was erased: outcome, times and hashes. */
import { Alert, Stack } from '@mantine/core'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { getKind } from '#console/ui/decision/definition-kind.ts'
import { ResultMark } from '#console/ui/decision/outcome.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import type { KeptDecision } from './evaluation-queries.ts'

export function ErasedDecision({ kept }: { readonly kept: KeptDecision }) {
  const { subject_id, erased_at, score_bps, receipt_hash } = kept
  const kind = getKind(kept.family)
  return (
    <Page
      title={`Decision of ${kept.definition_key}`}
      mark={<ResultMark of={kept} />}
      about={<DateTime at={kept.decided_at} />}
      trail={
        <PageLink to="/evaluations" inherit>
          Evaluations
        </PageLink>
      }
    >
      <Stack gap="md">
        <Alert color="gray" title="The content was erased">
          {erased_at !== null && (
            <>
              The subject was erased on <DateTime at={erased_at} />.{' '}
            </>
          )}
          Inputs, reasons and everything else in the document cannot be read by anybody any more.
        </Alert>
        <Section title="What remains">
          <Facts
            of={[
              ['Result', <ResultMark key="result" of={kept} />],
              score_bps !== null && ['Score', `${score_bps.toLocaleString('en')} of 10,000`],
              [
                'Made by',
                <PageLink key="definition" to={`${kind.basePath}/${kept.definition_key}`} size="sm">
                  {kind.word} {kept.definition_key}, version {kept.definition_version}
                </PageLink>,
              ],
              subject_id !== null && [
                'Subject',
                <PageLink key="subject" to={`/subjects/${subject_id}`} size="sm">
                  subject {subject_id.slice(-8)}
                </PageLink>,
              ],
              ['Decision id', <CopyValue key="id" value={kept.evaluation_id} name="the decision id" />],
              ['Document hash', <CopyValue key="document" value={kept.document_hash} name="the document hash" />],
              receipt_hash !== null && [
                'Receipt hash',
                <CopyValue key="receipt" value={receipt_hash} name="the receipt hash" />,
              ],
            ]}
          />
        </Section>
      </Stack>
    </Page>
  )
}
