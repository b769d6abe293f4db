/** A countdown in whole seconds with a callback at the end. */
import { useEffect, useRef, useState } from 'react'

export function useCountdown(seconds: number, onEnd: () => void): number {
  const [left, setLeft] = useState(seconds)
  const end = useRef(onEnd)
  end.current = onEnd
  useEffect(() => {
    const until_ms = Date.now() + seconds * 1000
    const timer = setInterval(() => {
      const now_left = Math.max(0, Math.ceil((until_ms - Date.now()) / 1000))
      setLeft(now_left)
      if (now_left > 0) return
      clearInterval(timer)
      end.current()
    }, 250)
    return () => clearInterval(timer)
  }, [seconds])
  return left
}
