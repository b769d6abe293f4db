/** How a tenant uses a plugin: what it may reach, and its configuration. */
import { Alert, Badge, Button, Stack, Table, TagsInput, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { type ReadManifest, readManifest } from '#console/ui/plugin/plugin-manifest.ts'
import { pluginVersionQuery } from '#console/ui/plugin/plugin-queries.ts'
import type { Plugin } from '#console/ui/plugin/plugin-texts.ts'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { Section } from '#console/ui/section.tsx'
import { Configuration } from './configuration.tsx'

export function SettingsTab({ plugin }: { readonly plugin: Plugin }) {
  const version = plugin.active?.version ?? plugin.head_version
  const { data } = useQuery({
    ...pluginVersionQuery(plugin.plugin_key, version, plugin.origin),
    enabled: version > 0,
    throwOnError: false,
  })
  const manifest = readManifest(data?.manifest ?? null)
  return (
    <Stack gap="md">
      <Grants plugin={plugin} manifest={manifest} />
      <Configuration plugin={plugin} schema={manifest.config_schema} />
    </Stack>
  )
}

interface GrantsProps {
  readonly plugin: Plugin
  readonly manifest: ReadManifest
}

interface Grant {
  readonly kind: 'List' | 'Host'
  readonly name: string
  readonly isWanted: boolean
  readonly isGranted: boolean
}

/** Everything that the manifest asks for or the tenant has granted. */
function listGrants({ plugin: { grants }, manifest }: GrantsProps): readonly Grant[] {
  const merge = (kind: Grant['kind'], wanted: readonly string[], granted: readonly string[]) =>
    [...new Set([...wanted, ...granted])].map((name) => ({
      kind,
      name,
      isWanted: wanted.includes(name),
      isGranted: granted.includes(name),
    }))
  const lists = manifest.lists.map(({ list_key }) => list_key)
  return [...merge('List', lists, grants.lists), ...merge('Host', manifest.hosts, grants.hosts)]
}

const describeGrant = ({ isWanted, isGranted }: Grant): readonly [color: string, words: string] => {
  if (!isGranted) return ['red', 'not granted']
  return isWanted ? ['teal', 'granted'] : ['gray', 'granted, not needed']
}

function Grants(props: GrantsProps) {
  const may = usePermission()
  return (
    <Section title="Grants" actions={may('updatePluginGrants') && <ChangeGrants {...props} />}>
      <Stack gap="sm">
        <Text size="sm">
          A plugin reaches only what its manifest names and an administrator grants. It sends nothing itself: requests
          to hosts are sent by this service.
        </Text>
        <PlainTable
          label="Grants"
          head={[{ name: 'Name' }, { name: 'Kind' }, { name: 'State' }]}
          empty={{ title: 'It needs no grant', about: 'The manifest asks for no list and no host.' }}
        >
          {listGrants(props).map((grant) => (
            <Table.Tr key={`${grant.kind} ${grant.name}`}>
              <Table.Td className="mono">{grant.name}</Table.Td>
              <Table.Td>{grant.kind}</Table.Td>
              <Table.Td>
                <Badge variant="light" color={describeGrant(grant)[0]} tt="none" miw="max-content">
                  {describeGrant(grant)[1]}
                </Badge>
              </Table.Td>
            </Table.Tr>
          ))}
        </PlainTable>
      </Stack>
    </Section>
  )
}

function ChangeGrants({ plugin, manifest }: GrantsProps) {
  const [isOpen, dialog] = useDisclosure(false)
  return (
    <>
      <Button size="xs" variant="default" onClick={dialog.open}>
        Change grants
      </Button>
      {isOpen && <GrantsDialog plugin={plugin} manifest={manifest} onClose={dialog.close} />}
    </>
  )
}

/** Mounted while open, so that it starts with what is granted and asked for. */
function GrantsDialog({ plugin, manifest, onClose }: GrantsProps & { readonly onClose: () => void }) {
  const { plugin_key, grants } = plugin
  const wanted = manifest.lists.map(({ list_key }) => list_key)
  const [form, setForm] = useState(() => ({
    lists: [...new Set([...grants.lists, ...wanted])],
    hosts: [...new Set([...grants.hosts, ...manifest.hosts])],
    reason: '',
  }))
  const change = useApiMutation(
    () =>
      probity.PUT('/api/plugins/{plugin_key}/grants', {
        params: { path: { plugin_key } },
        // Nothing was granted before the first revision.
        body: { ...form, ...(grants.revision > 0 && { expected_revision: grants.revision }) },
      }),
    { invalidates: ['definitions'], successMessage: 'Grants changed', onDone: onClose },
  )
  return (
    <FormDialog
      title={`Grants of ${plugin.title}`}
      isOpen
      onClose={onClose}
      onSubmit={() => change.run(undefined)}
      onReload={onClose}
      submit="Grant"
      change={change}
      size="lg"
    >
      <Alert color="cyan" role="status">
        <Text size="sm">
          What the manifest asks for is entered already. Remove what the plugin must not reach; it cannot run then.
        </Text>
      </Alert>
      <TagsInput
        label="Lists that it may look up"
        data={wanted}
        value={form.lists}
        onChange={(lists) => setForm({ ...form, lists })}
      />
      {(plugin.kind === 'provider' || form.hosts.length > 0) && (
        <TagsInput
          label="Hosts that its requests may name"
          description="The operator must allow them too."
          data={[...manifest.hosts]}
          value={form.hosts}
          onChange={(hosts) => setForm({ ...form, hosts })}
        />
      )}
      <ReasonField isFirst value={form.reason} onChange={(reason) => setForm({ ...form, reason })} />
      <ApprovalNote request={change.waiting} />
    </FormDialog>
  )
}
