import { mount } from "svelte";
import App from "./App.svelte";
import { router } from "./router.svelte";
import "./styles/tokens.css";
import "./styles/base.css";

// The code of the screen comes while the server is asked who this is.
router.place.route?.load().catch(() => undefined);
const target = document.getElementById("app");
if (target) mount(App, { target });
