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
import { type Investigation, listSeals, sealQuery } from './investigation-queries.ts'

interface PackButtonProps {
  readonly investigation: Investigation
  /** Of an earlier seal; absent: of the newest. */
  readonly seal_no?: number
  readonly isSmall?: boolean
}

/** Offers the package while the case is closed; afterwards its seals are listed. */
export function CasePack({ investigation }: { readonly investigation: Investigation }) {
  return investigation.state === 'closed' ? <PackButton investigation={investigation} /> : null
}

export function PackButton({ investigation, seal_no, isSmall = false }: PackButtonProps) {
  const may = usePermission()
  const [isExplaining, setExplaining] = useState(false)
  const { investigation_id, reference } = investigation
  const file = seal_no === undefined ? `${reference}.zip` : `${reference}-seal-${seal_no}.zip`
  const pack = useApiMutation(
    () =>
      readFile(
        probity.raw.GET('/api/investigations/{investigation_id}/pack', {
          params: { path: { investigation_id }, query: { ...(seal_no !== undefined && { seal_no }) } },
          headers: { accept: '*/*' },
          parseAs: 'blob',
        }),
      ),
    {
      invalidates: [],
      onDone: (bytes) => {
        saveFile(file, bytes)
        setExplaining(true)
      },
    },
  )
  if (!may('getInvestigationPack')) return null
  return (
    <>
      <ProblemNote problem={pack.problem} />
      <Button
        variant="default"
        size={isSmall ? 'xs' : 'sm'}
        loading={pack.isRunning}
        title="Sealed and signed: it can be verified without a connection"
        onClick={() => pack.run(undefined)}
      >
        Examiner’s package{seal_no !== undefined && <span className="sr-only"> of seal {seal_no}</span>}
      </Button>
      {isExplaining && (
        <HowToVerify
          {...{ investigation, file }}
          seal_no={seal_no ?? investigation.seals}
          onClose={() => setExplaining(false)}
        />
      )}
    </>
  )
}

interface HowToVerifyProps {
  readonly investigation: Investigation
  readonly file: string
  readonly seal_no: number
  readonly onClose: () => void
}

function HowToVerify({ investigation: { investigation_id }, file, seal_no, onClose }: HowToVerifyProps) {
  const may = usePermission()
  const { data } = useQuery(sealQuery(investigation_id))
  const seal = data && listSeals(data).find((one) => one.seal_no === seal_no)
  const { data: keys } = useQuery({ ...keysQuery, enabled: may('listAuditCheckpoints'), throwOnError: false })
  return (
    <ReadDialog title={`${file} was downloaded`} onClose={onClose} size="lg">
      <Text size="sm">
        The archive holds the narrative, steps, tasks, timeline and outcome of the case with a signed seal. It names
        each evidence item with its source and hash; the evidence itself stays in Probity. Anybody who has the file and
        the public key can verify without a connection that nothing was changed:
      </Text>
      <CopyValue
        isBlock
        value={`npx probity verify pack ${file} --key ${keys?.public_key ?? 'PUBLIC_KEY'}`}
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
