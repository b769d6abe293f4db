/** The heading and tabs of the audit record pages. */
import { Tabs } from '@mantine/core'
import { useLocation, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Page } from '#console/ui/page.tsx'

const tabs: readonly (readonly [path: string, name: string])[] = [
  ['/audit', 'Events'],
  ['/audit/verify', 'Verify'],
  ['/audit/exports', 'Export'],
  ['/audit/checkpoints', 'Checkpoints'],
]

export function AuditFrame({ children }: { readonly children: ReactNode }) {
  const navigate = useNavigate()
  const path = useLocation({ select: ({ pathname }) => pathname })
  return (
    <Page
      title="Audit record"
      about="All changes with user and time, in a hash chain that makes alterations detectable."
    >
      <Tabs value={path} onChange={(to) => to && navigate({ to })} mb="md" keepMounted={false}>
        <Tabs.List aria-label="Audit record" className="tabs">
          {tabs.map(([to, name]) => (
            <Tabs.Tab key={to} value={to}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={path} pt="md">
          {children}
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
