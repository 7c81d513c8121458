// Comfort for pages that work without it: a slider, copying, and pages that follow what happens.
"use strict";

// A slider writes epsilon on a logarithmic scale, and asks for the price when it is let go.
for (const box of document.querySelectorAll("[data-slide]")) {
  const slide = box.querySelector("input");
  const number = document.getElementById(box.dataset.slide);
  const place = () => { const e = Number(number.value); if (e > 0) slide.value = 100 * Math.log10(e); };
  place();
  box.hidden = false;
  number.addEventListener("input", place);
  slide.addEventListener("input", () => {
    number.value = Number(Math.pow(10, slide.value / 100).toPrecision(2));
    slide.setAttribute("aria-valuetext", "epsilon " + number.value);
  });
  slide.addEventListener("change", () => { if (slide.form.reportValidity()) slide.form.requestSubmit(); });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

// A page with data-live is read again when the server says that something has changed.
const live = document.querySelector("[data-live]");
if (live && window.EventSource) {
  const source = new EventSource(live.dataset.live);
  source.addEventListener("change", async () => {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-live]");
    if (next) live.replaceChildren(...next.childNodes);
  });
}
