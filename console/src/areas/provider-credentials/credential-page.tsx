/** One credential: its state, versions, and every time its values were opened. */
import '../../ui/registry.css'
import { Alert, Badge, Button, Group, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { CredentialState } from '#console/ui/provider/credential-table.tsx'
import { credentialVersionsQuery, statusQuery } from '#console/ui/provider/provider-queries.ts'
import { credentialGapTexts, formatMember, gapSteps } from '#console/ui/provider/provider-texts.ts'
import type { TestReply } from '#console/ui/provider/test-outcome.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { Section } from '#console/ui/section.tsx'
import { toolServerQuery } from '#console/ui/tool/tool-queries.ts'
import { getServerKey, toProviderPath } from '#console/ui/tool/tool-texts.ts'
import { ActivateDialog, DestroyDialog, DisableDialog, EnableDialog, VerifyDialog } from './credential-actions.tsx'
import { StoreValues } from './store-values.tsx'

type Credential = Schemas['ProviderCredential']
type Version = Schemas['CredentialVersion']

const credentialQuery = (credential_id: string) =>
  queryOptions({
    queryKey: ['provider-credentials', 'one', credential_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/provider-credentials/{credential_id}', { params: { path: { credential_id } }, signal }),
  })

export default function CredentialPage() {
  const { credential_id = '' } = useParams({ strict: false }) as { credential_id?: string }
  const { data: credential } = useSuspenseQuery(credentialQuery(credential_id))
  const may = usePermission()
  return (
    <Page
      title={credential.label}
      mark={
        <Group gap={6}>
          {credential.environment === 'test' && (
            <Badge variant="default" tt="none" fw={500}>
              test system
            </Badge>
          )}
          {credential.gap === null && <CredentialState of={credential} />}
          {credential.state !== 'enabled' && <StateBadge state={credential.state} />}
        </Group>
      }
      about={
        <>
          For calls of{' '}
          <PageLink to={toProviderPath(credential.provider_key)} inherit>
            {credential.provider_key}
          </PageLink>
          . Created <RelativeTime at={credential.created_at} /> by <Principal of={credential.created_by} />.
        </>
      }
      trail={
        <PageLink to="/provider-credentials" inherit>
          Provider credentials
        </PageLink>
      }
      actions={<Actions credential={credential} />}
    >
      <Stack gap="md">
        {credential.gap !== null && credential.state !== 'destroyed' && (
          <Alert color="red" role="status" title={`Cannot be used: ${toWords(gapSteps[credential.gap]).toLowerCase()}`}>
            <Text size="sm">
              {credentialGapTexts[credential.gap]} Calls of {credential.provider_key} that need it do not start.
            </Text>
          </Alert>
        )}
        <Versions credential={credential} />
        {may('listCredentialAccesses') && <AccessLog credential_id={credential_id} />}
      </Stack>
    </Page>
  )
}

/** The values that the provider or tool server declares; null where no version of the provider is in force. */
function useDeclaredMembers(provider_key: string) {
  const server_key = getServerKey(provider_key)
  const { data: status } = useQuery({
    ...statusQuery(provider_key),
    enabled: server_key === null,
    throwOnError: false,
  })
  const { data: server } = useQuery({
    ...toolServerQuery(server_key ?? ''),
    enabled: server_key !== null,
    throwOnError: false,
  })
  if (server_key !== null) return server?.credential_members
  return status === null ? null : status?.credential_members
}

type Asking = 'values' | 'disable' | 'enable' | 'destroy'

function Actions({ credential }: { readonly credential: Credential }) {
  const may = usePermission()
  const { values } = useSearch({ strict: false }) as { values?: string }
  const [asking, setAsking] = useState<Asking | null>(values === 'new' ? 'values' : null)
  const declared = useDeclaredMembers(credential.provider_key)
  if (credential.state === 'destroyed') return null
  const members = declared ?? []
  const close = () => setAsking(null)
  return (
    <>
      {may('createCredentialVersion') && (
        <Button disabled={members.length === 0} onClick={() => setAsking('values')}>
          Store values
        </Button>
      )}
      {declared === null && (
        <Text size="sm" c="dimmed" role="status">
          No version of the provider is in force: it declares no values yet.
        </Text>
      )}
      {credential.state === 'enabled' && may('disableProviderCredential') && (
        <Button variant="default" onClick={() => setAsking('disable')}>
          Disable
        </Button>
      )}
      {credential.state === 'disabled' && may('enableProviderCredential') && (
        <Button variant="default" onClick={() => setAsking('enable')}>
          Enable
        </Button>
      )}
      {may('deleteProviderCredential') && (
        <Button variant="subtle" color="red" onClick={() => setAsking('destroy')}>
          Destroy
        </Button>
      )}
      {asking === 'values' && members.length > 0 && (
        <StoreValues credential={credential} members={members} onClose={close} />
      )}
      {asking === 'disable' && <DisableDialog credential={credential} onClose={close} />}
      {asking === 'enable' && <EnableDialog credential={credential} onClose={close} />}
      {asking === 'destroy' && <DestroyDialog credential={credential} onClose={close} />}
    </>
  )
}

function Versions({ credential }: { readonly credential: Credential }) {
  const { credential_id } = credential
  const { data } = useSuspenseQuery(credentialVersionsQuery(credential_id))
  return (
    <Section title="Versions">
      {data.items.length === 0 ? (
        <EmptyState
          title="No values yet"
          about="Values are stored as a staged version, which is verified and then activated. Storing new values later makes another version."
        />
      ) : (
        <ol className="timeline" aria-label="Versions, newest first">
          {data.items.map((version) => (
            <VersionEntry key={version.version} credential={credential} version={version} />
          ))}
        </ol>
      )}
    </Section>
  )
}

const versionColors = { staged: 'cyan', active: 'teal', retired: 'gray', destroyed: 'gray' } as const

function VersionEntry({ credential, version }: { readonly credential: Credential; readonly version: Version }) {
  const may = usePermission()
  const [isActivating, setActivating] = useState(false)
  const [reply, setReply] = useState<TestReply | null>(null)
  const [lastOutcome, setLastOutcome] = useState<TestReply['outcome'] | null>(null)
  const { credential_id } = credential
  const verify = useApiMutation(
    () =>
      probity.POST('/api/provider-credentials/{credential_id}/verify', {
        params: { path: { credential_id } },
        body: { version: version.version },
      }),
    {
      invalidates: ['provider-credentials', 'providers'],
      onDone: (done) => {
        setReply(done)
        setLastOutcome(done.outcome)
      },
    },
  )
  const isUsable = version.state === 'staged' || version.state === 'active'
  return (
    <li data-in-force={version.state === 'active'} aria-label={`Version ${version.version}`}>
      <div className="version">
        <Stack gap={4} miw={0}>
          <Group gap="xs">
            <Text fw={650}>Version {version.version}</Text>
            <Badge variant="light" tt="none" miw="max-content" color={versionColors[version.state]}>
              {version.state}
            </Badge>
            {version.rejected_at !== null && (
              <Badge variant="light" tt="none" miw="max-content" color="red">
                rejected by the provider
              </Badge>
            )}
            {isUsable && version.rejected_at === null && version.last_verified_at === null && (
              <Badge variant="light" tt="none" miw="max-content" color="yellow">
                not verified
              </Badge>
            )}
          </Group>
          <VersionTimes version={version} />
          <Text size="xs" c="dimmed" component="div">
            {version.members.map(formatMember).join(', ')}; fingerprint{' '}
            <CopyValue value={version.fingerprint} name="the fingerprint" />
          </Text>
        </Stack>
        {credential.state !== 'destroyed' && isUsable && (
          <Group gap="xs" align="flex-start">
            {may('verifyProviderCredential') && (
              <Button size="xs" variant="default" loading={verify.isRunning} onClick={() => verify.run(undefined)}>
                Verify<span className="sr-only"> version {version.version}</span>
              </Button>
            )}
            {version.state === 'staged' && may('activateCredentialVersion') && (
              <Button size="xs" onClick={() => setActivating(true)}>
                Activate<span className="sr-only"> version {version.version}</span>
              </Button>
            )}
          </Group>
        )}
      </div>
      {isActivating && (
        <ActivateDialog
          credential={credential}
          version={version}
          lastOutcome={lastOutcome}
          onClose={() => setActivating(false)}
        />
      )}
      <VerifyDialog
        reply={reply}
        problem={verify.problem}
        onClose={() => {
          setReply(null)
          verify.reset()
        }}
      />
    </li>
  )
}

function VersionTimes({ version }: { readonly version: Version }) {
  const times: readonly (readonly [string, string | null])[] = [
    ['expires', version.expires_at],
    ['activated', version.activated_at],
    ['usable until', version.usable_until],
    ['verified', version.last_verified_at],
    ['rejected', version.rejected_at],
    ['last used', version.last_used_at],
    ['destroyed', version.destroyed_at],
  ]
  return (
    <Text size="xs" c="dimmed" component="div">
      Stored <DateTime at={version.set_at} /> by <Principal of={version.set_by} />
      {times.map(
        ([name, at]) =>
          at !== null && (
            <span key={name}>
              , {name} <RelativeTime at={at} />
            </span>
          ),
      )}
    </Text>
  )
}

type Access = Schemas['CredentialAccess']
const purposes: Readonly<Record<Access['purpose'], string>> = {
  call: 'A call',
  token: 'An access token',
  verify: 'Verification',
  list_tools: 'The list of tools',
}

function AccessLog({ credential_id }: { readonly credential_id: string }) {
  const may = usePermission()
  const list = usePages<Access>(['provider-credentials', 'accesses', credential_id], (cursor, signal) =>
    probity.GET('/api/provider-credentials/{credential_id}/access-log', {
      params: { path: { credential_id }, query: { ...cursor, limit: 20 } },
      signal,
    }),
  )
  return (
    <Section title="Access log">
      <ListTable
        label="Access log"
        list={list}
        head={[{ name: 'Opened' }, { name: 'For' }, { name: 'Version' }, { name: 'By', from: 'sm' }]}
        row={(access) => (
          <Table.Tr key={access.access_id}>
            <Table.Td>
              <DateTime at={access.accessed_at} />
            </Table.Td>
            <Table.Td>
              {access.call_id !== null && may('getProviderCall') ? (
                <PageLink to={`/providers/calls/${access.call_id}`} size="sm">
                  {purposes[access.purpose]}
                </PageLink>
              ) : (
                purposes[access.purpose]
              )}{' '}
              <RestrictionMark restriction_id={access.restriction_id} />
              <Text size="xs" hiddenFrom="sm" component="div">
                <Principal of={access.accessed_by} />
              </Text>
            </Table.Td>
            <Table.Td>{access.version}</Table.Td>
            <Table.Td visibleFrom="sm">
              <Principal of={access.accessed_by} />
            </Table.Td>
          </Table.Tr>
        )}
        empty={{
          title: 'The values were never opened',
          about: 'Every time a call, a verification or an access token needs the values, it is recorded here.',
        }}
      />
    </Section>
  )
}
