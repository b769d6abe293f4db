/** The heading and tabs of the inbox pages. */
import './inbox.css'
import { Tabs } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { Page } from '#console/ui/page.tsx'

const tabs = [
  { path: '/inbox', name: 'Alerts', needs: 'listAlerts' },
  { path: '/inbox/second-looks', name: 'Second looks', needs: 'listAlertSecondLooks' },
  { path: '/inbox/suppressions', name: 'Suppressions', needs: 'listAlertSuppressions' },
  { path: '/inbox/settings', name: 'Settings', needs: 'updateWorkSettings' },
] as const

interface InboxFrameProps {
  readonly open: (typeof tabs)[number]['path']
  readonly about: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export function InboxFrame({ open, about, actions, children }: InboxFrameProps) {
  const navigate = useNavigate()
  const may = usePermission()
  return (
    <Page title="Inbox" about={about} actions={actions} width="wide">
      <Tabs value={open} onChange={(to) => to && navigate({ to })} keepMounted={false}>
        <Tabs.List aria-label="Inbox" className="tabs">
          {tabs
            .filter(({ needs }) => may(needs))
            .map(({ path, name }) => (
              <Tabs.Tab key={path} value={path}>
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
