/** Downloads everything of a sealed case for an examiner, and says how to verify it. */
import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { keysQuery } from '#console/ui/checkpoint-keys.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { ReadDialog } from '#console/ui/dialog.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { readFile } from '#console/ui/read-file.ts'
import { saveFile } from '#console/ui/save-file.ts'
import { Facts } from '#console/ui/section.tsx'
import type { Investigation } from './investigation-queries.ts'

export function CasePack({ investigation }: { readonly investigation: Investigation }) {
  const may = usePermission()
  const [isExplaining, setExplaining] = useState(false)
  const { investigation_id, reference, state } = investigation
  const pack = useApiMutation(
    () =>
      readFile(
        probity.raw.GET('/api/investigations/{investigation_id}/pack', {
          params: { path: { investigation_id } },
          headers: { accept: '*/*' },
          parseAs: 'blob',
        }),
      ),
    {
      invalidates: [],
      onDone: (bytes) => {
        saveFile(`${reference}.zip`, bytes)
        setExplaining(true)
      },
    },
  )
  if (state !== 'closed' || !may('getInvestigationPack')) return null
  return (
    <>
      <ProblemNote problem={pack.problem} />
      <Button
        variant="default"
        loading={pack.isRunning}
        title="Sealed and signed: it can be verified without a connection"
        onClick={() => pack.run(undefined)}
      >
        Examiner’s package
      </Button>
      {isExplaining && <HowToVerify investigation={investigation} onClose={() => setExplaining(false)} />}
    </>
  )
}

interface HowToVerifyProps {
  readonly investigation: Investigation
  readonly onClose: () => void
}

function HowToVerify({ investigation: { investigation_id, reference }, onClose }: HowToVerifyProps) {
  const may = usePermission()
  const { data: seal } = useQuery({
    queryKey: ['investigations', 'seal', investigation_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/investigations/{investigation_id}/seal', { params: { path: { investigation_id } }, signal }),
    throwOnError: false,
  })
  const { data: keys } = useQuery({ ...keysQuery, enabled: may('listAuditCheckpoints'), throwOnError: false })
  return (
    <ReadDialog title={`${reference}.zip was downloaded`} onClose={onClose} size="lg">
      <Text size="sm">
        The archive holds the narrative, steps, tasks, timeline and outcome of the case with a signed seal. It names
        each evidence item with its source and hash; the evidence itself stays in Probity. Anybody who has the file and
        the public key can verify without a connection that nothing was changed:
      </Text>
      <CopyValue
        isBlock
        value={`npx probity verify pack ${reference}.zip --key ${keys?.public_key ?? 'PUBLIC_KEY'}`}
        name="the command"
      />
      <Text size="sm" c="dimmed">
        Send the public key to the examiner separately from the file.
        {may('listAuditCheckpoints') && (
          <>
            {' '}
            It is shown under{' '}
            <PageLink to="/audit/checkpoints" inherit>
              Checkpoints
            </PageLink>
            .
          </>
        )}
      </Text>
      {seal !== undefined && (
        <Facts
          of={[
            [
              'Sealed',
              <span key="sealed">
                <DateTime at={seal.sealed_at} />, by <Principal of={seal.sealed_by} isAlwaysNamed />
              </span>,
            ],
            seal.seal_no > 1 && ['Seal', `Number ${seal.seal_no}: the case was closed before`],
            ['Hash of the seal', <CopyValue key="hash" value={seal.manifest_hash} name="the hash of the seal" />],
          ]}
        />
      )}
    </ReadDialog>
  )
}
