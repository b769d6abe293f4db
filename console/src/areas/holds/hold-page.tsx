/** One legal hold: what it keeps, why, and its release by another person. */
import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { HeldObject } from './held-object.tsx'
import { getHoldName } from './hold-name.ts'
import { HoldStateBadge } from './holds-page.tsx'

type Hold = Schemas['Hold']

export default function HoldPage() {
  const { hold_id = '' } = useParams({ strict: false }) as { hold_id?: string }
  const { data: hold } = useSuspenseQuery({
    queryKey: ['holds', 'one', hold_id],
    queryFn: ({ signal }) => probity.GET('/api/holds/{hold_id}', { params: { path: { hold_id } }, signal }),
  })
  const { released_at, released_by } = hold
  return (
    <Page
      title={getHoldName(hold_id)}
      mark={<HoldStateBadge state={hold.state} />}
      trail={
        <PageLink to="/holds" inherit>
          Legal holds
        </PageLink>
      }
      actions={<Release hold={hold} />}
      restriction_id={hold.restriction_id}
      width="text"
    >
      <Section title="Details">
        <Facts
          of={[
            ['Object', <HeldObject key="object" hold={hold} />],
            ['Object id', <CopyValue key="id" value={hold.object_id} name="the object id" />],
            ['Reason', `“${hold.reason}”`],
            ['Reference', hold.authority_reference],
            [
              'Placed',
              <span key="placed">
                <DateTime at={hold.placed_at} />, by <Principal of={hold.placed_by} isAlwaysNamed />
              </span>,
            ],
            released_at !== null &&
              released_by !== null && [
                'Released',
                <span key="released">
                  <DateTime at={released_at} />, by <Principal of={released_by} isAlwaysNamed />
                </span>,
              ],
            hold.release_reason !== null && ['Reason of the release', `“${hold.release_reason}”`],
          ]}
        />
      </Section>
    </Page>
  )
}

function Release({ hold }: { readonly hold: Hold }) {
  const me = useMe()
  const may = usePermission()
  const [isAsking, asking] = useDisclosure(false)
  if (hold.state !== 'active' || !may('releaseHold')) return null
  if (hold.placed_by === me.principal)
    return (
      <Text size="sm" c="dimmed">
        You placed it, so another person must release it.
      </Text>
    )
  return (
    <>
      <Button variant="default" onClick={asking.open}>
        Release
      </Button>
      {isAsking && <ReleaseDialog hold={hold} onClose={asking.close} />}
    </>
  )
}

function ReleaseDialog({ hold: { hold_id }, onClose }: { readonly hold: Hold; readonly onClose: () => void }) {
  const [reason, setReason] = useState('')
  const release = useApiMutation(
    () => probity.POST('/api/holds/{hold_id}/release', { params: { path: { hold_id } }, body: { reason } }),
    { invalidates: ['holds'], successMessage: 'Hold released', onDone: onClose },
  )
  return (
    <FormDialog
      title="Release the hold"
      isOpen
      onClose={onClose}
      onSubmit={() => release.run(undefined)}
      submit="Release"
      change={release}
    >
      <Stack gap="xs">
        <Text size="sm">Retention and erasure may remove what it kept, unless another hold is active.</Text>
        <ReasonField isFirst value={reason} onChange={setReason} />
      </Stack>
    </FormDialog>
  )
}
