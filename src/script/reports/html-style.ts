/** Style sheet of the HTML report. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --ink: #1b2430; --soft: #56616e; --paper: #fff; --wash: #f3f5f8; --line: #d8dee6; --deep: #0b5cad;
  --pass: #1a7f43; --fail: #b3261e; --skip: #7a5a00; --fail-wash: #fdf0ef; --skip-wash: #fdf6e3;
  --del: #fbdcd9; --ins: #d3f0dc; --code: #f6f8fa;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6ebf1; --soft: #a3afbc; --paper: #1a212a; --wash: #11161c; --line: #34404d; --deep: #79b8ff;
    --pass: #5ccb86; --fail: #ff8f87; --skip: #e8c468; --fail-wash: #2d1b1d; --skip-wash: #2a2414;
    --del: #5a2a2a; --ins: #1f4a30; --code: #131920;
  }
}
* { box-sizing: border-box }
html { scroll-padding-top: 4.5rem; -webkit-text-size-adjust: 100% }
body { margin: 0; font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif; color: var(--ink); background: var(--wash); overflow-wrap: anywhere }
header, main, footer { max-width: 68rem; margin: 0 auto; padding: 0 1rem }
header { padding-top: 1.5rem }
.passed { --state: var(--pass) }
.failed { --state: var(--fail) }
.skipped { --state: var(--skip) }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; color: var(--state) }
h2, h3, h4 { margin: 0; font-size: 1rem }
.sub { margin: .25rem 0 0; color: var(--soft) }
dl.sub { display: flex; flex-wrap: wrap; gap: 0 1.25rem }
dl div, dl dt, dl dd { display: inline; margin: 0 }
dl dd { color: var(--ink) }
.badge { padding: 0 .4rem; font-size: .8rem; font-weight: 400; color: var(--skip); background: var(--skip-wash); border-radius: .25rem; white-space: nowrap }
.share { display: block; width: 100%; height: .5rem; margin: 1rem 0 0; border-radius: .25rem }
rect { fill: var(--state) }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
:focus-visible { outline: 3px solid var(--deep); outline-offset: 2px; border-radius: .25rem }
.script summary:focus-visible { outline-offset: -3px }
a { color: var(--deep) }
code, pre { font-family: var(--mono); font-size: .875em }

#controls { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 1rem -1rem 0; padding: .6rem 1rem; background: var(--wash); border-bottom: 1px solid var(--line) }
#controls[hidden] { display: none }
#controls [role=group] { display: flex; flex-wrap: wrap; gap: .35rem }
button { padding: .35rem .75rem; font: inherit; font-size: .9rem; color: var(--ink); background: var(--paper); border: 1px solid var(--line); border-radius: 2rem; cursor: pointer }
button[aria-pressed=true] { color: var(--paper); background: var(--ink); border-color: var(--ink) }
button:disabled { color: var(--soft); cursor: default }
#search { flex: 1 1 10rem; min-width: 0; padding: .35rem .75rem; font: inherit; font-size: .9rem; color: var(--ink); background: var(--paper); border: 1px solid var(--line); border-radius: 2rem }
#status { font-size: .85rem; color: var(--soft) }

.failures { margin: 1rem 0 0; padding: .75rem 1rem; background: var(--fail-wash); border: 1px solid var(--line); border-left: 4px solid var(--fail); border-radius: .4rem }
.failures ol { margin: .35rem 0 0; padding: 0; list-style: none }
.failures a { font-weight: 600; text-decoration-thickness: 1px; text-underline-offset: .15em }
.failures li span { display: block; color: var(--soft); font-size: .9rem }
.failures .clamp, .failures li span { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden }

.script { margin: 1rem 0 0; background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; overflow: hidden }
summary { cursor: pointer; list-style: none }
summary::-webkit-details-marker { display: none }
.script > summary { display: grid; grid-template-columns: 1.5rem minmax(0, 1fr) auto 1rem; gap: .1rem .5rem; align-items: baseline; padding: .75rem 1rem }
.script > summary:hover, .step > summary:hover { background: color-mix(in srgb, var(--deep) 6%, transparent) }
.script > summary .file { grid-column: 2; color: var(--soft); font-size: .85rem }
.script > summary .tally { grid-column: 3; grid-row: 1; text-align: right; font-size: .85rem; color: var(--soft) }
.tally span + span::before { content: ' · '; color: var(--soft); font-weight: 400 }
summary::after { content: '›'; grid-row: 1; justify-self: center; color: var(--soft) }
.script > summary::after, .group > summary::after { grid-column: 4 }
.step > summary::after { grid-column: 6 }
details[open] > summary::after { rotate: 90deg }
.tally .failed { color: var(--fail); font-weight: 600 }
.mark { font-weight: 700; text-align: center; color: var(--state) }
.alert { margin: 0; padding: .5rem 1rem; color: var(--skip); background: var(--skip-wash); border-top: 1px solid var(--line) }

.timeline { padding: .5rem 1rem; border-top: 1px solid var(--line); font-size: .85rem }
.timeline > summary, .curl > summary { display: inline-block; color: var(--soft) }
.timeline > summary::after, .curl > summary::after { display: inline-block; margin-left: .4rem }
.timeline ol { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr) max-content; gap: .25rem .75rem; margin: .4rem 0 .25rem; padding: 0; list-style: none }
.timeline li { display: grid; grid-column: 1 / -1; grid-template-columns: subgrid; align-items: center }
.timeline a { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-decoration: none }
.timeline a:hover { text-decoration: underline }
.timeline .time { text-align: right; color: var(--soft); font-variant-numeric: tabular-nums }

.group { border-top: 1px solid var(--line) }
.group > summary { display: grid; grid-template-columns: 1.5rem minmax(0, 1fr) auto 1rem; gap: 0 .5rem; align-items: baseline; padding: .4rem 1rem; font-size: .9rem; background: var(--wash) }
.group > summary .title { font-weight: 600 }
.group > summary .time { color: var(--soft); font-size: .85rem; font-variant-numeric: tabular-nums }
.group > :not(summary) { margin-left: 1.25rem }
.step { border-top: 1px solid var(--line) }
.many .step { content-visibility: auto; contain-intrinsic-size: auto 2.6rem }
.step > summary { display: grid; grid-template-columns: 1.5rem minmax(1.5rem, max-content) minmax(0, 1fr) 6rem 4.5rem 1rem; gap: 0 .5rem; align-items: baseline; padding: .5rem 1rem }
.step > summary .n { text-align: right; color: var(--soft); font-size: .85rem; font-variant-numeric: tabular-nums }
.step:not([open]) > summary .title { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden }
.step.failed > summary .title { font-weight: 600 }
.step.skipped > summary .title { color: var(--soft) }
.step > summary .why { grid-column: 3; grid-row: 2; font-size: .85rem; color: var(--soft) }
.step > summary .time { text-align: right; color: var(--soft); font-size: .85rem; white-space: nowrap; font-variant-numeric: tabular-nums }
.bar { width: 100%; height: .4rem; align-self: center; border-radius: .2rem; background: color-mix(in srgb, var(--line) 55%, transparent); overflow: hidden }
.inside { display: grid; gap: .75rem; padding: .25rem 1rem 1rem 5rem }
.inside > *, .failure > *, .pair > div { min-width: 0; margin: 0 }
.place { color: var(--soft); font-size: .85rem }
.failure { display: grid; gap: .6rem; padding: .75rem 1rem; background: var(--fail-wash); border-left: 4px solid var(--fail); border-radius: .4rem }
.failure .message { font-weight: 600; white-space: pre-wrap }
.hint { white-space: pre-wrap }
.hint::before { content: '→ ' }
.label { margin: 0 0 .2rem; font-size: .8rem; font-weight: 600; color: var(--soft) }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); gap: .6rem }
pre { margin: 0; padding: .5rem .75rem; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; background: var(--code); border: 1px solid var(--line); border-radius: .4rem; tab-size: 2 }
pre.tall { max-height: 26rem; overflow: auto }
pre b { font-weight: 600; color: var(--deep) }
mark, del, ins { color: inherit; text-decoration: none; border-radius: .15rem }
.expected mark, ins { background: var(--ins) }
.actual mark, del { background: var(--del) }
.diff del, .diff ins { display: block; margin: 0 -.75rem; padding: 0 .75rem; border-radius: 0 }
.diff i { font-style: normal; color: var(--soft) }
.exchange h4 { display: flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center; margin-bottom: .4rem; font-size: .9rem; font-weight: 400 }
.copy { display: none; margin-left: auto; padding: .1rem .6rem; font-size: .8rem }
.js .copy { display: block }
.curl { margin-top: .4rem; font-size: .85rem }
.curl pre { margin-top: .25rem }
.exchange:target, .exchange:focus { outline: 3px solid var(--deep); outline-offset: .4rem; border-radius: .25rem }
.status { padding: 0 .4rem; border-radius: .25rem; background: var(--ins) }
.status.bad { background: var(--del) }
footer { padding-top: 1.5rem; padding-bottom: 2rem; font-size: .85rem; color: var(--soft) }
.none { display: none; padding: 2rem 0; text-align: center; color: var(--soft) }
.empty .none { display: block }
.miss { display: none }
body[data-show=passed] .step:not(.passed), body[data-show=failed] .step:not(.failed), body[data-show=skipped] .step:not(.skipped),
body[data-show=passed] .script:not(.has-passed), body[data-show=failed] .script:not(.has-failed), body[data-show=skipped] .script:not(.has-skipped) { display: none }

@media (max-width: 40rem) {
  header, main, footer { padding-left: .75rem; padding-right: .75rem }
  #controls { position: static; margin: 1rem -.75rem 0; padding: .6rem .75rem }
  button { padding: .35rem .6rem }
  h1 { font-size: 1.35rem }
  .script > summary { grid-template-columns: 1.25rem minmax(0, 1fr) 1rem; padding: .75rem }
  .script > summary .tally { grid-column: 2; grid-row: auto; text-align: left }
  .script > summary::after { grid-column: 3 }
  .step > summary { grid-template-columns: 1.25rem minmax(1rem, max-content) minmax(0, 1fr) auto 1rem; padding: .6rem .75rem }
  .step > summary .bar { grid-column: 3 / span 2; grid-row: 2; margin-top: .3rem }
  .step > summary .time { grid-column: 4; grid-row: 1 }
  .step > summary::after { grid-column: 5 }
  .inside { padding: .25rem .75rem .9rem }
  .group > summary, .timeline { padding-left: .75rem; padding-right: .75rem }
  .group > :not(summary) { margin-left: .5rem }
  .timeline ol { grid-template-columns: minmax(0, 1fr) max-content }
  .timeline a { grid-column: 1 / -1; white-space: normal }
}
@media print {
  :root { --ink: #000; --soft: #444; --paper: #fff; --wash: #fff; --line: #bbb; --deep: #000; --pass: #1a7f43; --fail: #b3261e; --skip: #7a5a00; --fail-wash: #fff; --skip-wash: #fff; --del: #f5d5d2; --ins: #d5ecd9; --code: #fff }
  body { font-size: 10pt }
  #controls, .failures, .copy, .timeline, .curl, summary::after { display: none !important }
  header, main, footer { max-width: none; padding: 0 }
  .script { overflow: visible; border-radius: 0; display: block !important }
  .script > summary { break-after: avoid }
  .step, .many .step { content-visibility: visible; break-inside: avoid }
  .step.failed, .group.failed, .script.has-failed { display: block !important; break-inside: auto }
  .step.failed::details-content, .group.failed::details-content, .script.has-failed::details-content { display: block; content-visibility: visible; height: auto }
  .share rect, .bar rect, mark, del, ins, .failure { print-color-adjust: exact; -webkit-print-color-adjust: exact }
  pre.tall { max-height: none }
  body[data-show=passed] .script:not(.has-passed):not(.has-failed), body[data-show=skipped] .script:not(.has-skipped):not(.has-failed), body[data-show=failed] .script:not(.has-failed) { display: none !important }
}
`;
