// Comfort for pages that work without it.
"use strict";
