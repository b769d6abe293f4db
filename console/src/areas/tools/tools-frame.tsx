/** The heading and tabs of the pages about AI tools. A tab is hidden from those who may not open it. */
import './tools.css'
import { Tabs } from '@mantine/core'
import type { OperationId } from '@probity/client'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { Page } from '#console/ui/page.tsx'

const tabs = [
  { to: '/tools', name: 'Tools and policy', needs: 'listTools' },
  { to: '/tools/approvals', name: 'Approvals', needs: 'listToolApprovals' },
  { to: '/tools/calls', name: 'Calls', needs: 'listToolCalls' },
  { to: '/tools/servers', name: 'Tool servers', needs: 'listToolServers' },
] as const satisfies readonly { to: string; name: string; needs: OperationId }[]

interface ToolsFrameProps {
  readonly open: (typeof tabs)[number]['to']
  readonly about: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export function ToolsFrame({ open, about, actions, children }: ToolsFrameProps) {
  const may = usePermission()
  const navigate = useNavigate()
  return (
    <Page title="AI tools" about={about} actions={actions}>
      <Tabs value={open} onChange={(to) => to && navigate({ to })} mb="md" keepMounted={false}>
        <Tabs.List aria-label="AI tools" className="tabs">
          {tabs
            .filter(({ needs }) => may(needs))
            .map(({ to, name }) => (
              <Tabs.Tab key={to} value={to}>
                {name}
              </Tabs.Tab>
            ))}
        </Tabs.List>
        <Tabs.Panel value={open} pt="md">
          {children}
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
