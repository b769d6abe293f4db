/** Acts on alerts whose details have not arrived: each is done once they have, for the alert that it was asked for. */
import { useQueries } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type Alert, alertQuery } from './alert-queries.ts'

interface WaitingAct<Key> {
  readonly key: Key
  readonly alert_id: string
}

/** The list moves on meanwhile. Where the details cannot be read, nothing is done. */
export function useWaitingActs<Key>(act: (key: Key, alert: Alert) => void): (key: Key, alert_id: string) => void {
  const [waiting, setWaiting] = useState<readonly WaitingAct<Key>[]>([])
  const done = useRef(new WeakSet<WaitingAct<Key>>())
  const ids = [...new Set(waiting.map(({ alert_id }) => alert_id))]
  const answers = useQueries({ queries: ids.map((id) => ({ ...alertQuery(id), throwOnError: false })) })
  useEffect(() => {
    const answered = waiting.flatMap((one) => {
      const answer = answers[ids.indexOf(one.alert_id)]
      return answer === undefined || answer.isPending ? [] : [{ one, alert: answer.data }]
    })
    if (answered.length === 0) return
    setWaiting((now) => now.filter((one) => !answered.some((settled) => settled.one === one)))
    for (const { one, alert } of answered) {
      // A render of something else may come before the one without it.
      if (done.current.has(one)) continue
      done.current.add(one)
      if (alert !== undefined) act(one.key, alert)
    }
  })
  return (key, alert_id) => setWaiting((now) => [...now, { key, alert_id }])
}
