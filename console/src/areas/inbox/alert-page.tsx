/** One alert on a page of its own. */
import { Card } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { AlertActDialog } from './alert-act-dialog.tsx'
import type { AlertAct } from './alert-actions.tsx'
import { AlertPanel } from './alert-panel.tsx'
import { alertQuery, getAlertName } from './alert-queries.ts'

export default function AlertPage() {
  const { alert_id = '' } = useParams({ strict: false }) as { alert_id?: string }
  const { data: alert } = useSuspenseQuery(alertQuery(alert_id))
  const [act, setAct] = useState<AlertAct | null>(null)
  return (
    <Page
      title={getAlertName(alert_id)}
      trail={
        <PageLink to="/inbox" inherit>
          Inbox
        </PageLink>
      }
      restriction_id={alert.is_restricted ? alert.restriction_id : null}
      width="text"
    >
      <Card withBorder padding="md">
        <AlertPanel alert={alert} onAct={setAct} isPage />
      </Card>
      <AlertActDialog alert={alert} act={act} onClose={() => setAct(null)} />
    </Page>
  )
}
