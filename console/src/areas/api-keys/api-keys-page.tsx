/** The API keys of the tenant: create, rotate, revoke, usage. A secret is shown once. */
import { ActionIcon, Button, Group, Menu, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { RoleBadges, StateBadge } from '#console/ui/badges.tsx'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { omitUndefined } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { CreateDialog, RevokeDialog, RotateDialog } from './key-dialogs.tsx'
import { SecretDialog } from './secret-dialog.tsx'
import { UsageDialog } from './usage-dialog.tsx'

type ApiKey = Schemas['ApiKey']
type KeyAction = 'rotate' | 'revoke' | 'usage'

const states = ['active', 'revoked'] as const

export default function ApiKeysPage() {
  const may = usePermission()
  const state = useFilter('state', states)
  const [isCreating, setCreating] = useState(false)
  const [act, setAct] = useState<{ readonly act: KeyAction; readonly key: ApiKey } | null>(null)
  const [made, setMade] = useState<Schemas['ApiKeyWithSecret'] | null>(null)
  const list = usePages(['api-keys', 'list', state], (cursor, signal) =>
    probity.GET('/api/api-keys', { params: { query: { ...cursor, ...omitUndefined({ state }), limit: 50 } }, signal }),
  )
  const close = () => setAct(null)
  const chosen = (name: KeyAction) => (act?.act === name ? act.key : null)
  return (
    <Page
      title="API keys"
      about="A key is exchanged for 15-minute tokens with its roles. API keys cannot approve changes."
      actions={may('createApiKey') && <Button onClick={() => setCreating(true)}>Create API key</Button>}
    >
      <Group gap="xs" mb="sm" align="flex-end">
        <Filter name="state" label="State" values={states} everything="Any state" />
      </Group>
      <ListTable
        label="API keys"
        list={list}
        empty={{
          title: 'No API keys yet',
          about: 'An API key lets a machine client call the API with its own roles. Its secret is shown once.',
          filters: ['state'],
        }}
        head={[
          { name: 'Name' },
          { name: 'Roles', from: 'sm' },
          { name: 'State' },
          { name: 'Last used' },
          { name: 'Expires', from: 'md' },
          { name: 'Created', from: 'lg' },
          { name: 'Actions', isHidden: true },
        ]}
        row={(key) => <KeyRow key={key.key_id} apiKey={key} onAct={(name) => setAct({ act: name, key })} />}
      />
      <CreateDialog isOpen={isCreating} onClose={() => setCreating(false)} onCreated={setMade} />
      <RotateDialog apiKey={chosen('rotate')} onClose={close} onMade={setMade} />
      <RevokeDialog apiKey={chosen('revoke')} onClose={close} />
      <UsageDialog apiKey={chosen('usage')} onClose={close} />
      <SecretDialog created={made} onClose={() => setMade(null)} />
    </Page>
  )
}

interface KeyRowProps {
  readonly apiKey: ApiKey
  readonly onAct: (act: KeyAction) => void
}

function KeyRow({ apiKey, onAct }: KeyRowProps) {
  const may = usePermission()
  const isActive = apiKey.state === 'active'
  return (
    <Table.Tr>
      <Table.Td>
        <Stack gap={0}>
          <Text size="sm" fw={500}>
            {apiKey.name}
          </Text>
          <Text size="xs" c="dimmed" className="mono">
            …{apiKey.key_id.slice(-12)}
          </Text>
        </Stack>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <RoleBadges roles={apiKey.roles} />
      </Table.Td>
      <Table.Td>
        <StateBadge state={apiKey.state} />
      </Table.Td>
      <Table.Td>
        <RelativeTime at={apiKey.last_used_at} />
      </Table.Td>
      <Table.Td visibleFrom="md">
        <RelativeTime at={apiKey.expires_at} />
      </Table.Td>
      <Table.Td visibleFrom="lg">
        <RelativeTime at={apiKey.created_at} />
      </Table.Td>
      <Table.Td ta="right">
        <Menu position="bottom-end" transitionProps={{ duration: 100 }}>
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${apiKey.name}`}>
              <Icon name="more" />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {may('getApiKeyUsage') && <Menu.Item onClick={() => onAct('usage')}>Usage</Menu.Item>}
            {isActive && may('rotateApiKey') && <Menu.Item onClick={() => onAct('rotate')}>Rotate</Menu.Item>}
            {isActive && may('deleteApiKey') && (
              <Menu.Item color="red" onClick={() => onAct('revoke')}>
                Revoke
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      </Table.Td>
    </Table.Tr>
  )
}
