/** The tenant's profile: name, where it works, under which licences, its time zone and residency. */
import { Button, Group, Select, SimpleGrid, Stack, TagsInput, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { Facts, Section } from '#console/ui/section.tsx'
import { type Licence, Licences } from './licences.tsx'
import { TenantFrame } from './tenant-frame.tsx'

type Tenant = Schemas['Tenant']

const tenantQuery = queryOptions({
  queryKey: ['tenant', 'profile'],
  queryFn: ({ signal }) => probity.GET('/api/tenant', { signal }),
})

export default function ProfilePage() {
  const { data: tenant, refetch } = useSuspenseQuery(tenantQuery)
  return (
    <TenantFrame>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <ProfileForm key={tenant.revision} tenant={tenant} onReload={refetch} />
        <Section title="Record">
          <Facts
            of={[
              ['Tenant id', <CopyValue key="id" value={tenant.tenant_id} name="the tenant id" />],
              [
                'Short name',
                <span key="slug" className="mono">
                  {tenant.slug}
                </span>,
              ],
              ['State', tenant.state],
              ['For trying out', tenant.demo ? 'yes' : 'no'],
              ['Created', <DateTime key="created" at={tenant.created_at} />],
              ['Changed', <DateTime key="changed" at={tenant.updated_at} />],
              ['Revision', tenant.revision],
            ]}
          />
        </Section>
      </SimpleGrid>
    </TenantFrame>
  )
}

interface ProfileFormProps {
  readonly tenant: Tenant
  readonly onReload: () => void
}

function ProfileForm({ tenant, onReload }: ProfileFormProps) {
  const isReadOnly = !usePermission()('updateTenant')
  const [profile, setProfile] = useState({
    name: tenant.name,
    jurisdictions: tenant.jurisdictions,
    licences: tenant.licences as Licence[],
    time_zone: tenant.time_zone,
    residency: tenant.residency ?? '',
  })
  const save = useApiMutation(
    (change: typeof profile) =>
      probity.PATCH('/api/tenant', {
        body: { ...change, residency: change.residency || null, expected_revision: tenant.revision },
      }),
    { invalidates: ['tenant', 'me'], successMessage: 'Saved' },
  )
  const faults = faultsByField(save.problem)
  function submit(event: FormEvent) {
    event.preventDefault()
    save.run(profile)
  }
  return (
    <Section title="Profile">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label="Name"
            required
            maxLength={200}
            readOnly={isReadOnly}
            value={profile.name}
            error={faults['name']}
            onChange={(event) => setProfile({ ...profile, name: event.currentTarget.value })}
          />
          <TagsInput
            label="Jurisdictions"
            description="Country codes of two letters, such as DE."
            readOnly={isReadOnly}
            value={profile.jurisdictions}
            error={faults['jurisdictions']}
            onChange={(codes) => setProfile({ ...profile, jurisdictions: codes.map((code) => code.toUpperCase()) })}
          />
          <Group grow align="flex-start">
            <Select
              label="Time zone"
              searchable
              readOnly={isReadOnly}
              allowDeselect={false}
              data={zones(profile.time_zone)}
              value={profile.time_zone}
              error={faults['time_zone']}
              onChange={(zone) => zone && setProfile({ ...profile, time_zone: zone })}
            />
            <TextInput
              label="Residency"
              maxLength={100}
              readOnly={isReadOnly}
              value={profile.residency}
              error={faults['residency']}
              onChange={(event) => setProfile({ ...profile, residency: event.currentTarget.value })}
            />
          </Group>
          <Licences
            value={profile.licences}
            isReadOnly={isReadOnly}
            onChange={(licences) => setProfile({ ...profile, licences })}
          />
          <ProblemNote problem={save.problem} onReload={onReload} />
          <ApprovalNote request={save.waiting} />
          {!isReadOnly && (
            <Group>
              <Button type="submit" variant="light" loading={save.isRunning}>
                Save the profile
              </Button>
            </Group>
          )}
        </Stack>
      </form>
    </Section>
  )
}

/** The zones this browser knows, and the stored one in any case. */
const zones = (present: string): string[] => [...new Set([present, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
