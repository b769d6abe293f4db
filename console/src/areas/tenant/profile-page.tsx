/** The profile of the tenant: name, jurisdictions, licences, time zone and residency. */
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
        <Section title="Details">
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
              ['Demo tenant', tenant.demo ? 'yes' : 'no'],
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

const toProfile = (tenant: Tenant) => ({
  name: tenant.name,
  jurisdictions: tenant.jurisdictions,
  licences: tenant.licences as Licence[],
  time_zone: tenant.time_zone,
  residency: tenant.residency ?? '',
})
type Profile = ReturnType<typeof toProfile>

interface ProfileFormProps {
  readonly tenant: Tenant
  readonly onReload: () => void
}

function ProfileForm({ tenant, onReload }: ProfileFormProps) {
  const isReadOnly = !usePermission()('updateTenant')
  const [profile, setProfile] = useState(() => toProfile(tenant))
  const save = useApiMutation(
    (change: Profile) =>
      probity.PATCH('/api/tenant', {
        body: { ...change, residency: change.residency || null, expected_revision: tenant.revision },
      }),
    { invalidates: ['tenant', 'me'], successMessage: 'Profile saved' },
  )
  function submit(event: FormEvent) {
    event.preventDefault()
    save.run(profile)
  }
  return (
    <Section title="Profile">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <ProfileFields
            value={profile}
            faults={faultsByField(save.problem)}
            isReadOnly={isReadOnly}
            onChange={setProfile}
          />
          <ProblemNote problem={save.problem} onReload={onReload} />
          <ApprovalNote request={save.waiting} />
          {!isReadOnly && (
            <Group>
              <Button type="submit" variant="light" loading={save.isRunning}>
                Save profile
              </Button>
            </Group>
          )}
        </Stack>
      </form>
    </Section>
  )
}

interface ProfileFieldsProps {
  readonly value: Profile
  readonly faults: Readonly<Record<string, string>>
  readonly isReadOnly: boolean
  readonly onChange: (profile: Profile) => void
}

function ProfileFields({ value, faults, isReadOnly, onChange }: ProfileFieldsProps) {
  return (
    <>
      <TextInput
        label="Name"
        required
        maxLength={200}
        readOnly={isReadOnly}
        value={value.name}
        error={faults['name']}
        onChange={(event) => onChange({ ...value, name: event.currentTarget.value })}
      />
      <TagsInput
        label="Jurisdictions"
        description="Two-letter country codes, such as DE."
        readOnly={isReadOnly}
        value={value.jurisdictions}
        error={faults['jurisdictions']}
        onChange={(codes) => onChange({ ...value, jurisdictions: codes.map((code) => code.toUpperCase()) })}
      />
      <Group grow align="flex-start">
        <Select
          label="Time zone"
          searchable
          readOnly={isReadOnly}
          allowDeselect={false}
          data={zones(value.time_zone)}
          value={value.time_zone}
          error={faults['time_zone']}
          onChange={(zone) => zone && onChange({ ...value, time_zone: zone })}
        />
        <TextInput
          label="Residency"
          maxLength={100}
          readOnly={isReadOnly}
          value={value.residency}
          error={faults['residency']}
          onChange={(event) => onChange({ ...value, residency: event.currentTarget.value })}
        />
      </Group>
      <Licences
        value={value.licences}
        isReadOnly={isReadOnly}
        onChange={(licences) => onChange({ ...value, licences })}
      />
    </>
  )
}

/** The time zones of this browser and the stored one. */
const zones = (present: string): string[] => [...new Set([present, 'UTC', ...Intl.supportedValuesOf('timeZone')])]
