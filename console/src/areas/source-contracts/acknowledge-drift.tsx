/** The acknowledgement of a drift finding, and the dialog to add one. */
import { Button, Text, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { driftTitles } from './drift-texts.ts'

type Finding = Schemas['ContractDrift']['items'][number]

interface DriftSeenProps {
  readonly contract_key: string
  readonly finding: Finding
}

export function DriftSeen({ contract_key, finding }: DriftSeenProps) {
  const may = usePermission()
  if (finding.acknowledged_by !== null) {
    return (
      <>
        <Text size="sm" component="div">
          <RelativeTime at={finding.acknowledged_at} /> by <Principal of={finding.acknowledged_by} />
        </Text>
        {finding.acknowledgement_note !== null && (
          <Text size="xs" c="dimmed" className="break">
            {finding.acknowledgement_note}
          </Text>
        )}
      </>
    )
  }
  if (!may('acknowledgeDriftFinding')) return <span className="quiet">not yet</span>
  return <AcknowledgeDrift contract_key={contract_key} finding={finding} />
}

function AcknowledgeDrift({ contract_key, finding }: DriftSeenProps) {
  const [isOpen, dialog] = useDisclosure(false)
  const [note, setNote] = useState('')
  const { finding_id, kind, pointer } = finding
  const acknowledge = useApiMutation(
    () =>
      probity.POST('/api/source-contracts/{contract_key}/drift/{finding_id}/acknowledge', {
        params: { path: { contract_key, finding_id } },
        body: note.trim() === '' ? {} : { note },
      }),
    { invalidates: ['definitions'], successMessage: 'Marked as seen', onDone: close },
  )
  function close() {
    setNote('')
    acknowledge.reset()
    dialog.close()
  }
  return (
    <>
      <Button size="xs" variant="default" onClick={dialog.open} aria-label={`Mark as seen: ${pointer}`}>
        Mark as seen
      </Button>
      <FormDialog
        title="Mark drift as seen"
        isOpen={isOpen}
        onClose={close}
        onSubmit={() => acknowledge.run(undefined)}
        submit="Mark as seen"
        change={acknowledge}
      >
        <Text size="sm">
          {driftTitles[kind]}: <span className="pointer">{pointer}</span>
        </Text>
        <Textarea
          label="Note"
          description="What follows from it, for example a new version of the contract"
          maxLength={2000}
          autosize
          minRows={2}
          data-autofocus
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
      </FormDialog>
    </>
  )
}
