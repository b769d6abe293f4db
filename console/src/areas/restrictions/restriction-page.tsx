/** One restriction: whether it is in force, who has access, and who read what belongs to it. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { ConfirmDialog, FormDialog } from '#console/ui/dialog.tsx'
import { useFilter } from '#console/ui/filters.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { PartTabs } from '#console/ui/part-tabs.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { useOwnAccessEnd } from '#console/ui/restriction/own-access.tsx'
import { RestrictedObjects } from '#console/ui/restriction/restricted-objects.tsx'
import { type Restriction, restrictionQuery } from '#console/ui/restriction/restriction-queries.ts'
import { Facts, Section } from '#console/ui/section.tsx'
import { AccessLog } from './access-log.tsx'
import { AccessTab } from './access-tab.tsx'
import { getRestrictionName } from './restriction-name.ts'
import { ForceBadge } from './restrictions-page.tsx'

const tabs = ['access', 'log'] as const
const tabNames = { access: 'Access list', log: 'Access log' }

export default function RestrictionPage() {
  const { restriction_id = '' } = useParams({ strict: false }) as { restriction_id?: string }
  const may = usePermission()
  const { data: restriction } = useSuspenseQuery(restrictionQuery(restriction_id))
  const offered = tabs.filter((tab) => tab !== 'log' || may('listRestrictionAccessLog'))
  const open = useFilter('tab', offered) ?? 'access'
  return (
    <Page
      title={getRestrictionName(restriction_id)}
      mark={<ForceBadge restriction={restriction} />}
      about={restriction.purpose}
      trail={
        <PageLink to="/restrictions" inherit>
          Restrictions
        </PageLink>
      }
      actions={<ForceActions restriction={restriction} />}
      restriction_id={restriction.is_in_force ? restriction_id : null}
    >
      <Stack gap="md">
        <Section title="Details">
          <RestrictionFacts restriction={restriction} />
        </Section>
        {restriction.is_in_force && (
          <Section title="What it hides">
            <RestrictedObjects restriction_id={restriction_id} max={100} empty="Nothing that you may list yet." />
            <Text size="xs" c="dimmed">
              Cases, alerts, documents, holds and reports, among the newest 200 of each, with what is stored about them.
            </Text>
          </Section>
        )}
        <PartTabs
          label="Parts of the restriction"
          offered={offered}
          names={tabNames}
          open={open}
          panels={{
            access: <AccessTab restriction={restriction} />,
            log: <AccessLog restriction_id={restriction_id} />,
          }}
        />
      </Stack>
    </Page>
  )
}

const Act = ({ by, at }: { readonly by: string; readonly at: string }) => (
  <>
    <DateTime at={at} />, by <Principal of={by} isAlwaysNamed />
  </>
)

function RestrictionFacts({ restriction }: { readonly restriction: Restriction }) {
  const { imposed_at, imposed_by, lifted_at, lifted_by, lift_reason } = restriction
  return (
    <Facts
      of={[
        ['Created', <Act key="created" by={restriction.created_by} at={restriction.created_at} />],
        imposed_at !== null &&
          imposed_by !== null && ['Imposed', <Act key="imposed" by={imposed_by} at={imposed_at} />],
        lifted_at !== null && lifted_by !== null && ['Lifted', <Act key="lifted" by={lifted_by} at={lifted_at} />],
        lift_reason !== null && ['Reason', `“${lift_reason}”`],
        ['Restriction', <CopyValue key="id" value={restriction.restriction_id} name="the restriction id" />],
      ]}
    />
  )
}

function ForceActions({ restriction }: { readonly restriction: Restriction }) {
  const may = usePermission()
  const [isAsking, asking] = useDisclosure(false)
  // The reason is said above the access list.
  if (useOwnAccessEnd(restriction.restriction_id) !== null) return null
  if (restriction.is_in_force)
    return (
      <>
        {may('liftRestriction') && (
          <Button variant="default" onClick={asking.open}>
            Lift
          </Button>
        )}
        {isAsking && <LiftDialog restriction={restriction} onClose={asking.close} />}
      </>
    )
  return (
    <>
      {may('imposeRestriction') && <Button onClick={asking.open}>Impose</Button>}
      {isAsking && <ImposeDialog restriction={restriction} onClose={asking.close} />}
    </>
  )
}

interface ActDialogProps {
  readonly restriction: Restriction
  readonly onClose: () => void
}

function LiftDialog({ restriction: { restriction_id }, onClose }: ActDialogProps) {
  const [reason, setReason] = useState('')
  const lift = useApiMutation(
    () =>
      probity.POST('/api/restrictions/{restriction_id}/lift', {
        params: { path: { restriction_id } },
        body: { reason },
      }),
    { invalidates: ['restrictions'], successMessage: 'Restriction lifted', onDone: onClose },
  )
  return (
    <FormDialog
      title="Lift the restriction"
      isOpen
      onClose={onClose}
      onSubmit={() => lift.run(undefined)}
      submit="Lift"
      change={lift}
    >
      <Text size="sm">
        What belongs to it becomes visible to every role that may read it, including what was stored while it was in
        force.
      </Text>
      <ReasonField isFirst value={reason} onChange={setReason} />
    </FormDialog>
  )
}

function ImposeDialog({ restriction: { restriction_id }, onClose }: ActDialogProps) {
  const impose = useApiMutation(
    () => probity.POST('/api/restrictions/{restriction_id}/impose', { params: { path: { restriction_id } } }),
    { invalidates: ['restrictions'], successMessage: 'Restriction in force', onDone: onClose },
  )
  return (
    <ConfirmDialog
      title="Impose the restriction?"
      isOpen
      onClose={onClose}
      onConfirm={() => impose.run(undefined)}
      confirm="Impose"
      change={impose}
    >
      <Group gap="xs">
        What belongs to it, past records included, is hidden from everybody without access. You get access, if you do
        not have it.
      </Group>
    </ConfirmDialog>
  )
}
