/** The heading and tabs of the tenant settings pages. */
import { Tabs } from '@mantine/core'
import { useLocation, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMe } from '#console/session/queries.ts'
import { Page } from '#console/ui/page.tsx'

const tabs: readonly (readonly [path: string, name: string])[] = [
  ['/tenant', 'Profile'],
  ['/tenant/approval-policy', 'Approval policy'],
  ['/tenant/retention-policy', 'Retention'],
  ['/tenant/isolation', 'Tenant isolation'],
]

export function TenantFrame({ children }: { readonly children: ReactNode }) {
  const me = useMe()
  const navigate = useNavigate()
  const path = useLocation({ select: ({ pathname }) => pathname })
  return (
    <Page title="Tenant settings" about={`${me.tenant.name} (${me.tenant.slug})`}>
      <Tabs value={path} onChange={(to) => to && navigate({ to })} mb="md" keepMounted={false}>
        <Tabs.List aria-label="Tenant settings" className="tabs">
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
